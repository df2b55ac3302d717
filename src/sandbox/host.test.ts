import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { writeFolder } from "../../test/support/run-script.ts";
import { insideFile, isOpenToAll, isRoot, nextUser, toolUsers, withPrelude } from "./host.ts";

test("nextUser() gives another user each time, who is none of the system", () => {
  const users = Array.from({ length: 1000 }, nextUser);

  expect(new Set(users).size).toBe(1000);
  expect(users.every((user) => user >= 60_000 && user < 61_000)).toBe(true);
  expect(new Set(toolUsers())).toEqual(new Set(users));
});

test("isOpenToAll() sees a directory on the way that others cannot enter", () => {
  const folder = writeFolder({ "open/a.txt": "", "closed/b/c.txt": "" });
  chmodSync(join(folder, "closed"), 0o750);

  expect(isOpenToAll(join(folder, "open/a.txt"))).toBe(true);
  expect(isOpenToAll(join(folder, "closed/b/c.txt"))).toBe(false);
  expect(isOpenToAll(join(folder, "closed"))).toBe(true);
});

test("withPrelude() only becomes somebody else where nothing else is asked for", () => {
  const words = withPrelude({ groups: [], staged: [], user: 60_001 }, ["true", "--reuid=0"]);

  expect(words.slice(1)).toEqual(["--reuid=60001", "--regid=60001", "--clear-groups", "--", "true", "--reuid=0"]);
  expect(words[0]).toMatch(/setpriv$/u);
});

test("withPrelude() does what root must do before it becomes somebody else, in this order", () => {
  const plain = { mount: { source: "/a", target: "/x" }, place: "/p1" };
  const owned = { mount: { source: "/b", target: "/y", granted: true }, place: "/p2" };

  const words = withPrelude({ groups: ["/g/cgroup.procs"], staged: [plain, owned], user: 60_001 }, ["true"]);

  const shape = words.filter((word) => !word.includes(" ")).map((word) => word.replace(/^.*\//u, ""));
  expect(shape).toEqual([
    ...["sh", "-c", "kitbag", "cgroup.procs", "--"],
    ...["unshare", "--mount", "--propagation", "private", "--"],
    ...["sh", "-c", "kitbag", "a", "p1", "--"],
    ...["perl", "own-mounts.pl", "60001", "b", "p2", "--"],
    ...["setpriv", "--reuid=60001", "--regid=60001", "--clear-groups", "--", "true"],
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

  expect(execFileSync(file, argv, { encoding: "utf8" })).toBe("60001\n60001\nreached1\n");
  expect(existsSync(join(place, "c.txt"))).toBe(false);
});

test.for(["enter.pl", "own-mounts.pl"])("insideFile() finds %s", (name) => {
  expect(existsSync(insideFile(name))).toBe(true);
});
