import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { createSkillSource, loadSkills } from "./load-workspace-skills.ts";

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
