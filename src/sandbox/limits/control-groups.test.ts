import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { defaultLimits } from "../sandbox.ts";
import { findControlGroups } from "./control-groups.ts";

test("findControlGroups() makes groups of version 2 with limits for memory and processes", () => {
  const { root, own, base } = makeTree("0::/app\n", ["app"]);

  const groups = findControlGroups(root, own);
  const { files } = groups?.make({ ...defaultLimits, memoryBytes: 1000, processes: 10 }) ?? { files: [] };

  const [file = ""] = files;
  const read = (name: string): string => readFileSync(join(file, "..", name), "utf8");
  expect(groups?.version).toBe(2);
  expect([read("memory.max"), read("memory.swap.max"), read("pids.max")]).toEqual(["1000", "0", "18"]);
  expect(file.startsWith(base)).toBe(true);
});

test("findControlGroups() makes groups of version 1, each in its own tree", () => {
  const { root, own } = makeTree("5:memory:/app\n3:cpu,pids:/app\n0::/\n", ["memory/app", "pids/app"]);

  const groups = findControlGroups(root, own);
  const { files } = groups?.make(defaultLimits) ?? { files: [] };

  expect(groups?.version).toBe(1);
  expect(files.map((file) => file.slice(root.length).split("/").slice(0, 3).join("/"))).toEqual([
    "/memory/app",
    "/pids/app",
  ]);
});

test("leave() tells whether memory ended the program", () => {
  const { root, own } = makeTree("0::/app\n", ["app"]);
  const groups = findControlGroups(root, own);
  const [one, other] = [groups?.make(defaultLimits), groups?.make(defaultLimits)];
  writeFileSync(join(one?.files[0] ?? "", "..", "memory.events"), "oom 1\noom_kill 1\n");
  writeFileSync(join(other?.files[0] ?? "", "..", "memory.events"), "oom 0\noom_kill 0\n");

  expect([one?.leave(), other?.leave()]).toEqual([{ outOfMemory: true }, { outOfMemory: false }]);
});

test.for([
  ["a table that says nothing", ""],
  ["a group that is not there", "0::/missing\n"],
  ["trees that are not there", "5:memory:/x\n3:pids:/x\n"],
])("findControlGroups() finds none with %s", ([, table]) => {
  const { root, own } = makeTree(table ?? "", []);

  expect(findControlGroups(root, own)).toBeUndefined();
});

test("findControlGroups() finds none where limits are not handed on", () => {
  const { root, own, base } = makeTree("0::/app\n", ["app"]);
  mkdirSync(join(base, "app2"));
  writeFileSync(own, "0::/app2\n");
  writeFileSync(join(base, "app2", "cgroup.procs"), "");
  mkdirSync(join(base, "app2", "cgroup.subtree_control"));

  expect(findControlGroups(root, own)).toBeUndefined();
});

test("findControlGroups() finds none without a table", () => {
  expect(findControlGroups("/nonexistent", "/nonexistent")).toBeUndefined();
});

test("findControlGroups() removes old groups of processes that are gone, and nothing else", () => {
  const { root, own, base } = makeTree("0::/app\n", ["app"]);
  const app = join(base, "app");
  // Of one that is gone, and of one that had the number of this process before it.
  const gone = ["kitbag-999999999-0123abcd-0", `kitbag-${process.pid}-0123abcd-0`];
  const others = ["kitbag-999999999-0123abcd-1", `kitbag-${process.ppid}-0123abcd-0`, "other"];
  for (const name of [...gone, ...others]) mkdirSync(join(app, name));
  for (const name of readdirSync(app)) if (!name.endsWith("-1")) utimesSync(join(app, name), 0, 0);

  findControlGroups(root, own);

  const left = readdirSync(app);
  for (const name of gone) expect(left).not.toContain(name);
  expect(left).toEqual(expect.arrayContaining(others));
});

test("findControlGroups() leaves alone what this process made before", () => {
  const { root, own } = makeTree("0::/app\n", ["app"]);
  // The kernel lets a group be removed although it has files; a plain folder must be empty.
  const { files = [] } = findControlGroups(root, own)?.make(defaultLimits) ?? {};
  const group = dirname(files[0] ?? "");
  for (const name of readdirSync(group)) rmSync(join(group, name));
  utimesSync(group, 0, 0);

  findControlGroups(root, own);

  expect(existsSync(group)).toBe(true);
});

/** A tree of plain files: what the kernel would answer is written into it. */
function makeTree(table: string, groups: readonly string[]): { root: string; own: string; base: string } {
  const root = createFolder();
  const own = join(root, "table");
  writeFileSync(own, table);
  for (const group of groups) {
    mkdirSync(join(root, group), { recursive: true });
    writeFileSync(join(root, group, "cgroup.procs"), "");
    writeFileSync(join(root, group, "cgroup.subtree_control"), "cpu memory pids\n");
  }
  return { root, own, base: root };
}
