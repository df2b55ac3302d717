import { writeFileSync } from "node:fs";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { checkNode } from "../doctor/check-project.ts";
import type { MachineExamination as Machine } from "../doctor/examine-machine.ts";

test("kitbag doctor looks at the machine and finds no configuration", async () => {
  const project = createProject();

  const run = await runKitbag(["doctor", "--json"], { project });

  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({
    healthy: true,
    checks: [
      { name: "Node.js", status: "ok", found: process.versions.node },
      { name: "platform", status: "ok", found: `${process.platform} ${process.arch}` },
      { name: "KITBAG_HOME", status: "note", found: `${project.home} (made when it is needed)` },
      { name: "trust list", status: "ok", found: "0 trusted configurations" },
      { name: "configuration", status: "note", found: "none here or above", cure: "write one, or use --module" },
      { name: "store", status: "note", found: `${project.home}/kitbag.db (made with the first call)` },
      { name: "output", status: "ok", found: "a pipe or a file; cannot ask questions" },
    ],
  });
});

test("kitbag doctor says whether the configuration is trusted, and runs nothing of it", async () => {
  const project = createProject({ "kitbag.config.mjs": 'console.log("it runs"); export default [];' });
  const before = await runKitbag(["doctor"], { project });
  await runKitbag(["trust", "."], { project });
  const after = await runKitbag(["doctor"], { project });
  project.write("kitbag.config.mjs", "export default [];");
  const changed = await runKitbag(["doctor"], { project });

  expect(before.stdout).toContain("kitbag.config.mjs (not trusted); read it, then run: kitbag trust");
  expect(after.stdout).toContain("kitbag.config.mjs (trusted)");
  expect(changed.stdout).toContain("changed since it was trusted");
  expect(before.stderr + after.stderr + changed.stderr).toBe("");
});

test("kitbag doctor says of a configuration that is data whether it must be trusted", async () => {
  const project = createProject({ "kitbag.config.json": '{"limits": {"limitMs": 5000}}' });
  const plain = await runKitbag(["doctor"], { project });
  project.write("kitbag.config.json", '{"mcp": {"x": {"command": "x"}}}');
  const before = await runKitbag(["doctor"], { project });
  await runKitbag(["trust", "."], { project });
  const after = await runKitbag(["doctor"], { project });
  project.write("kitbag.config.json", '{"mcp": 7}');
  const broken = await runKitbag(["doctor"], { project });

  expect(plain.stdout).toContain("kitbag.config.json (only data: needs no trust)");
  expect(before.stdout).toContain("kitbag.config.json (not trusted); read it, then run: kitbag trust");
  expect(after.stdout).toContain("kitbag.config.json (trusted)");
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain("mcp: expected an object, found 7");
});

test.for([
  [{ KITBAG_STORE: "none" }, "note", "none: nothing is kept"],
  [
    { KITBAG_STORE: "postgres://ada:hunter2@127.0.0.1:1/kitbag" },
    "wrong",
    expect.stringContaining('Cannot use the store "postgres://127.0.0.1:1/kitbag": connect ECONNREFUSED'),
  ],
  [{ KITBAG_STORE: "somewhere" }, "wrong", expect.stringContaining('Cannot use KITBAG_STORE "somewhere"')],
] as const)(
  "kitbag doctor says where records are kept with %j, and shows no password",
  async ([env, status, found]) => {
    const run = await runKitbag(["doctor", "--json"], { env });

    const { checks } = JSON.parse(run.stdout) as { checks: { name: string }[] };
    expect(checks.find(({ name }) => name === "store")).toMatchObject({ status, found });
    expect(run.stdout + run.stderr).not.toContain("hunter2");
  },
);

test("kitbag doctor fails when something is wrong", async () => {
  const project = createProject({ "kitbag.config.ts": "", "kitbag.config.json": "{}" });
  writeFileSync(project.home, "a file where a folder should be");

  const run = await runKitbag(["doctor"], { project });

  expect(run.code).toBe(1);
  expect(run.stdout).toContain("is not a folder; move it away");
  expect(run.stdout).toContain("the folder also has");
});

test("kitbag doctor shows every sandbox, the one that is used, and how it keeps each guarantee", async (context) => {
  needProgram(context, "bwrap");

  const run = await runKitbag(["doctor"]);

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatch(/^✓ {2}bubblewrap {2}works, and is used$/mu);
  expect(run.stdout).toMatch(/^✓ {2}unshare {5}works$/mu);
  expect(run.stdout).toMatch(/^· {2}seatbelt {4}missing: it is for darwin alone$/mu);
  expect(run.stdout).toContain("bubblewrap is used: it is the first that works here");
  expect(run.stdout).toMatch(/^✓ {2}files {10}a mount namespace/mu);
  expect(run.stdout).toMatch(/^✓ {2}memory {9}(?:control group v[12]|watched)/mu);
  expect(run.stdout).toMatch(/^✓ {2}bash .*interpreter {2}\d/mu);
});

test("kitbag doctor tells programs all that it shows", async () => {
  const run = await runKitbag(["doctor", "--json", "--sandbox", "unshare"]);

  const document = JSON.parse(run.stdout) as Machine;
  expect(document.sandbox.used).toBe("unshare");
  expect(document.sandbox.sandboxes.map(({ name }) => name)).toEqual([
    "bubblewrap",
    "unshare",
    "firejail",
    "nsjail",
    "seatbelt",
  ]);
  expect(document.sandbox.guarantees.find(({ guarantee }) => guarantee === "disk")).toEqual({
    guarantee: "disk",
    enforced: true,
    how: "temporary file systems with a size",
  });
  expect(document.interpreters.find(({ name }) => name === "node")).toEqual({
    name: "node",
    path: process.execPath,
    version: process.versions.node,
  });
  expect(document.packageTools.map(({ name }) => name)).toEqual(["pip", "npm"]);
  expect(document.compilers.map(({ language }) => language)).toContain("rust");
});

test("kitbag doctor says what firejail does not hold back", async (context) => {
  needProgram(context, "firejail");

  const run = await runKitbag(["doctor"], { env: { KITBAG_SANDBOX: "firejail" } });

  expect(run.stdout).toContain("firejail is used: it was asked for");
  expect(run.stdout).toMatch(/^✗ {2}disk {11}not enforced: a program can fill the temporary directory$/mu);
});

test("kitbag doctor warns of running without a sandbox", async () => {
  const run = await runKitbag(["doctor"], { env: { KITBAG_SANDBOX: "off" } });

  expect(run.stderr).toContain("No sandbox: what runs can read and change all that you can");
  expect(run.stdout).toContain("No sandbox is used: it was asked for; nothing holds programs back");
  expect(run.stdout).toMatch(/^✗ {2}files {10}not enforced: a program reads and writes what you can$/mu);
});

test("kitbag doctor is not content without a sandbox", async () => {
  const run = await runKitbag(["doctor", "--json", "--sandbox", "seatbelt"]);

  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({
    healthy: false,
    sandbox: { why: "seatbelt was asked for, and does not work here", guarantees: [] },
    compilers: [],
  });
});

test.for([
  ["22.18.0", "wrong"],
  ["22.19.0", "ok"],
  ["23.0.0", "ok"],
  ["24.21.0", "ok"],
  ["20.99.99", "wrong"],
] as const)("checkNode() calls %s %s", ([version, status]) => {
  expect(checkNode(version).status).toBe(status);
});
