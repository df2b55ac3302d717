import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { createPathGuard, holdPlaces, identifyPlaces, releasePlaces } from "./hold-places.ts";
import { findProgram } from "./programs.ts";
import type { Mount } from "./sandbox.ts";

test("holdPlaces() holds what was granted and what is shielded below it, and nothing of the system", () => {
  const folder = makeFolder();
  const mounts = [
    { source: "/etc/localtime", target: "/etc/localtime" },
    { source: join(folder, "out"), target: join(folder, "out"), granted: true, write: true },
    { source: join(folder, "out/data"), target: join(folder, "out/data") },
    { source: join(folder, "other"), target: "/skill" },
  ];

  const held = holdPlaces(mounts, { mounts: mounts.slice(1) });

  expect(held.map((mount) => mount.held !== undefined)).toEqual([false, true, true, false]);
  releasePlaces(held);
});

test.for<[string, (path: string) => void, string]>([
  ["a link in its place", replaceByLink, "it is a link now"],
  ["a link on the way to it", (path) => replaceByLink(join(path, "..")), "a link leads to"],
  ["nothing in its place", (path) => rmSync(path, { recursive: true }), "it cannot be opened any more (ENOENT)"],
])("holdPlaces() refuses %s, with the cure, and leaves nothing open", ([, change, found]) => {
  const folder = makeFolder();
  const mounts = [grant(join(folder, "other")), grant(join(folder, "out/data"))];
  change(join(folder, "out/data"));
  const before = readdirSync("/proc/self/fd").length;

  expect(() => holdPlaces(mounts, { mounts })).toThrow(
    expect.objectContaining({
      code: "grant-changed",
      details: {
        path: join(folder, "out/data"),
        found: expect.stringContaining(found) as string,
        cure: expect.stringContaining("put it back") as string,
      },
    }),
  );
  expect(readdirSync("/proc/self/fd").length).toBe(before);
});

test("holdPlaces() leaves out an entry of a granted folder that was removed or made a link since, and refuses another folder", () => {
  const folder = makeFolder();
  const [out, data, gone] = [join(folder, "out"), join(folder, "out/data"), join(folder, "out/gone")];
  const mounts = [data, gone].map((path) => ({ ...grant(path), partOf: out }));

  const first = holdPlaces(mounts, { mounts });
  releasePlaces(first);
  replaceByLink(data);
  const second = holdPlaces(mounts, { mounts });
  replaceByLink(out);

  expect(first.map(({ source }) => source)).toEqual([data]);
  expect(second).toEqual([]);
  expect(() => holdPlaces(mounts, { mounts })).toThrow(expect.objectContaining({ code: "grant-changed" }));
});

test("identifyPlaces() tells a folder from another one at the same path, and that there is none", () => {
  const path = join(makeFolder(), "out/data");
  const first = identifyPlaces([grant(path)]);
  const again = identifyPlaces([grant(path)]);
  renameSync(path, `${path}.old`);
  mkdirSync(path);
  const replaced = identifyPlaces([grant(path)]);
  rmSync(path, { recursive: true });
  const gone = identifyPlaces([grant(path)]);

  expect(again).toEqual(first);
  expect(replaced).not.toEqual(first);
  expect(gone).toEqual([undefined]);
});

test("createPathGuard() refuses a path below a folder that another tool was given to write", () => {
  const guard = createPathGuard("firejail");
  guard.take([grant("/a/out", true)])();

  expect(() => guard.take([grant("/a/out/data")])).toThrow(/"firejail".*\/a\/out\/data stays what it is/u);
  expect(() => guard.take([grant("/a/out/data", true)])).toThrow("another tool may write /a/out");
  expect(() => guard.take([grant("/a/out")])).not.toThrow();
  expect(() => guard.take([grant("/a/outer")])).not.toThrow();
  expect(() => guard.take([grant("/a/out", true), grant("/a/out/data")])).not.toThrow();
});

test("createPathGuard() refuses a folder to write while a tool runs that was given a path below it", () => {
  const guard = createPathGuard("firejail");
  const end = guard.take([grant("/a/out/data")]);

  expect(() => guard.take([grant("/a/out", true)])).toThrow("another tool may write /a/out");
  end();
  expect(() => guard.take([grant("/a/out", true)])).not.toThrow();
});

test.runIf(process.getuid?.() === 0)(
  "holdPlaces() knows a mount in the place of what was granted as another one",
  () => {
    const path = join(makeFolder(), "out/data");
    const program = `
    import { execFileSync } from "node:child_process";
    import { identifyPlaces } from ${JSON.stringify(join(import.meta.dirname, "hold-places.ts"))};
    const mounts = [{ source: ${JSON.stringify(path)}, target: "/x", granted: true }];
    const before = identifyPlaces(mounts);
    execFileSync("mount", ["-t", "tmpfs", "none", ${JSON.stringify(path)}]);
    console.log(JSON.stringify(before) !== JSON.stringify(identifyPlaces(mounts)));`;
    const node = [process.execPath, "--conditions=@kitbag/source", "--input-type=module", "--eval", program];

    expect(
      execFileSync(findProgram("unshare") ?? "", ["--mount", "--propagation", "private", "--", ...node], {
        encoding: "utf8",
      }),
    ).toBe("true\n");
  },
);

function makeFolder(): string {
  return realpathSync(createFolder({ "out/data/note.txt": "inside", "other/note.txt": "other" }));
}

function grant(path: string, write = false): Mount {
  return { source: path, target: path, granted: true, ...(write && { write }) };
}

function replaceByLink(path: string): void {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
}
