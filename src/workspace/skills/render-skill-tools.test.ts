import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("W2: the tools of open skills are rendered in a section of their own", async () => {
  const workspace = createWorkspace({ tools: [tool("clock")], skills: [skill("pdf"), skill("csv")] });
  await workspace.activateSkill("pdf");

  expect(workspace.renderSkillTools()).toMatchInlineSnapshot(`
    "## Tools of the open skills

    ### pdf

    - pdf__run: Runs it
      {
        path: string; // where
      } → {
        pages?: number;
      }"
  `);
});

test("W2: a skill with a title has it in its heading, with the name by which it is closed", async () => {
  const titled = defineSkill({ name: "pdf", displayName: "Paper\n mill", description: "PDF", tools: [tool("run")] });
  const workspace = createWorkspace({ skills: [titled] });
  await workspace.activateSkill("pdf");

  expect(workspace.renderSkillTools()).toContain("### Paper mill (pdf)\n");
});

test("renderSkillTools() writes JSON Schema if that is wanted, and nothing if no skill is open", async () => {
  const workspace = createWorkspace({ tools: [tool("clock")], skills: [skill("pdf")] });

  const closed = workspace.renderSkillTools();
  await workspace.activateSkill("pdf");
  const open = workspace.renderSkillTools({ format: "json" });

  expect(closed).toBe("");
  expect(open).toContain('{"type":"object","properties":{"path":');
  expect(open).toContain('→ {"type":"object","properties":{"pages":');
});

test("renderSkillTools() writes no output where a tool declares none", async () => {
  const plain = defineTool({ name: "run", description: "Runs it", run: () => 1 });
  const workspace = createWorkspace({ skills: [defineSkill({ name: "pdf", description: "PDF", tools: [plain] })] });

  await workspace.activateSkill("pdf");

  expect(workspace.renderSkillTools()).not.toContain("→");
});

function skill(name: string): ReturnType<typeof defineSkill> {
  return defineSkill({ name, description: name, tools: [tool("run")] });
}

function tool(name: string): ReturnType<typeof defineTool> {
  return defineTool({
    name,
    description: "Runs\n  it",
    input: { type: "object", properties: { path: { type: "string", description: "where" } }, required: ["path"] },
    output: { type: "object", properties: { pages: { type: "number" } } },
    run: () => ({ pages: 1 }),
  });
}
