import { join } from "node:path";

import { expect, test } from "vitest";

import type { Runtime } from "../../core/runtime.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { createWorkspace } from "../create-workspace.ts";
import { createSkillSource, loadSkills } from "./folder-skills.ts";

const manifest = `
[skill]
description = "Says things"

[[tools]]
name = "twice"
kind = "pipeline"
description = "Says a text twice"
input = { type = "object", properties = { text = { type = "string" } } }
steps = [{ id = "first", tool = "say", args = { text = "$input.text" } }]
`;

test("loadSkills() without options looks nowhere", async () => {
  expect(await loadSkills()).toEqual({ reports: [], diagnostics: [] });
});

test("loadSkills() and createSkillSource() make the pipelines of a manifest", async () => {
  const directories = [createFolder({ "voice/kitbag.toml": manifest })];

  const loaded = await loadSkills({ directories });
  const source = await createSkillSource({ directories, watchFiles: [join(directories[0] ?? "", "x")] }).load();

  for (const { reports } of [loaded, source]) {
    expect(reports).toMatchObject([{ status: "ok", tools: [{ address: "voice/twice", kind: "pipeline" }] }]);
  }
});

test("a script runs once for one input while its manifest lets the output be used again", async () => {
  const folder = createFolder({
    "rates/SKILL.md": "---\nname: rates\ndescription: Knows rates\n---\n# rates\n",
    "rates/scripts/fetch.sh": "#!/bin/sh\n# Usage: fetch.sh <currency>\necho $1\n",
    "rates/scripts/manifest.yml": "tools:\n  - { script: fetch.sh, cache: { for: 10m, tags: [money] } }\n",
  });
  const { reports } = await loadSkills({ directories: [folder] });
  let runs = 0;
  const runtime: Runtime = { kind: "script", run: () => `run ${++runs}` };
  const skills = reports.flatMap(({ skill }) => skill ?? []);
  const workspace = createWorkspace({ skills, runtimes: [runtime] });
  await workspace.activateSkill("rates");
  const fetch = () => workspace.call("rates/fetch", { currency: "CHF" });

  const outcomes = [await fetch(), await fetch()];
  const forgotten = await workspace.forgetOutputs({ tag: "money" });
  outcomes.push(await fetch());

  expect(forgotten).toBe(1);
  expect(outcomes).toEqual([
    { status: "ok", output: "run 1" },
    { status: "ok", output: "run 1", recalled: "cache" },
    { status: "ok", output: "run 2" },
  ]);
});
