import { writeFileSync } from "node:fs";

import { expect, test } from "vitest";

import { createProject, runKitbag } from "../../../test/run-kitbag.ts";
import { checkNode } from "../doctor-checks.ts";

test("kitbag doctor looks at the machine and finds no configuration", async () => {
  const project = createProject();

  const run = await runKitbag(["doctor", "--json"], { project });

  expect(run.code).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({
    healthy: true,
    checks: [
      { name: "Node.js", status: "ok", found: process.versions.node },
      { name: "platform", status: "ok", found: `${process.platform} ${process.arch}` },
      { name: "KITBAG_HOME", status: "note", found: `${project.home} (made when it is needed)` },
      { name: "trust list", status: "ok", found: "0 trusted configurations" },
      { name: "configuration", status: "note", found: "none here or above", cure: "write one, or use --module" },
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

test("kitbag doctor fails when something is wrong", async () => {
  const project = createProject({ "kitbag.config.ts": "", "kitbag.config.json": "{}" });
  writeFileSync(project.home, "a file where a folder should be");

  const run = await runKitbag(["doctor"], { project });

  expect(run.code).toBe(1);
  expect(run.stdout).toContain("is not a folder; move it away");
  expect(run.stdout).toContain("the folder also has");
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
