import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { writeFolder } from "../../test/support/run-script.ts";
import { insideFile, isOpenToTools, isRoot, nextUser, toolGroup, toolUsers, withPrelude } from "./host.ts";

test("nextUser() gives another user each time, who is none of the system", () => {
  const users = Array.from({ length: 1000 }, nextUser);

  expect(new Set(users).size).toBe(1000);
  expect(users.every((user) => user >= 60_000 && user < 61_000)).toBe(true);
  expect(new Set(toolUsers())).toEqual(new Set(users));
});

test("isOpenToTools() sees a directory on the way that tools cannot enter", () => {
  const folder = writeFolder({ "open/a.txt": "", "closed/b/c.txt": "" });
  chmodSync(join(folder, "closed"), 0o750);

  expect(isOpenToTools(join(folder, "open/a.txt"))).toBe(true);
  expect(isOpenToTools(join(folder, "closed/b/c.txt"))).toBe(false);
  expect(isOpenToTools(join(folder, "closed"))).toBe(true);
});

test.runIf(isRoot)("isOpenToTools() takes a directory that only the group of tools may enter as open", () => {
  const folder = writeFolder({ "own/a.txt": "" });
  chmodSync(join(folder, "own"), 0o710);
  const before = isOpenToTools(join(folder, "own/a.txt"));

  chownSync(join(folder, "own"), 0, toolGroup);

  expect([before, isOpenToTools(join(folder, "own/a.txt"))]).toEqual([false, true]);
});

test("withPrelude() only becomes somebody else where nothing else is asked for", () => {
  const words = withPrelude({ groups: [], staged: [], user: 60_001 }, ["true", "--reuid=0"]);

  expect(words.slice(1)).toEqual(["--reuid=60001", "--regid=60000", "--clear-groups", "--", "true", "--reuid=0"]);
  expect(words[0]).toMatch(/setpriv$/u);
});

test("withPrelude() does what root must do before it becomes somebody else, in this order", () => {
  const plain = { mount: { source: "/a", target: "/x" }, place: "/p1" };
  const held = { descriptor: 9, identity: "1:2", isDirectory: true };
  const owned = { mount: { source: "/b", target: "/y", granted: true, held }, place: "/p2" };
  const shown = { mount: { source: "/b/c", target: "/y/c", held }, place: "/p3" };

  const words = withPrelude({ groups: ["/g/cgroup.procs"], staged: [plain, owned, shown], user: 60_001 }, ["true"]);

  const shape = words.filter((word) => !word.includes(" ")).map((word) => word.replace(/^.*\//u, ""));
  expect(shape).toEqual([
    ...["sh", "-c", "kitbag", "cgroup.procs", "--"],
    ...["unshare", "--mount", "--propagation", "private", "--"],
    ...["sh", "-c", "kitbag", "a", "p1", "--"],
    ...["perl", "own-mounts.pl", "60001", "60000", "own", "1:2", "", "b", "p2", "show", "1:2", "", "c", "p3", "--"],
    ...["setpriv", "--reuid=60001", "--regid=60000", "--clear-groups", "--", "true"],
  ]);
});

test.runIf(isRoot)("withPrelude() shows a program of no rights what only root could reach, by odd names, too", () => {
  const folder = writeFolder({ "closed/-a $(id) 'b'/c.txt": "reached" });
  const place = join(folder, "place");
  mkdirSync(place);
  chmodSync(join(folder, "closed"), 0o700);
  const source = join(folder, "closed/-a $(id) 'b'");
  const staged = [{ mount: { source, target: "/x" }, place }];

  const [file = "", ...argv] = withPrelude({ groups: [], staged, user: 60_001 }, [
    "/bin/sh",
    "-c",
    `id -u; id -G; cat "$0/c.txt"; cat "$1/c.txt" 2>&1 >/dev/null | grep -c denied`,
    place,
    source,
  ]);

  expect(execFileSync(file, argv, { encoding: "utf8" })).toBe("60001\n60000\nreached1\n");
  expect(existsSync(join(place, "c.txt"))).toBe(false);
});

test.runIf(isRoot)("withPrelude() starts nothing if a granted path was replaced since it was looked at", () => {
  const folder = writeFolder({ "granted/c.txt": "", "place/x": "" });
  const held = { descriptor: -1, identity: "1:1", isDirectory: true };
  const mount = { source: join(folder, "granted"), target: "/x", granted: true, held };
  const staged = [{ mount, place: join(folder, "place") }];

  const [file = "", ...argv] = withPrelude({ groups: [], staged, user: 60_001 }, ["echo", "started"]);
  const run = spawnSync(file, argv, { encoding: "utf8" });

  expect([run.status, run.stdout]).toEqual([125, ""]);
  expect(run.stderr).toContain(`opening the granted path ${folder}/granted, which was replaced`);
});

test.for(["enter.pl", "own-mounts.pl"])("insideFile() finds %s", (name) => {
  expect(existsSync(insideFile(name))).toBe(true);
});
