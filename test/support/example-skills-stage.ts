import { resolve } from "node:path";

import { createWorkspace, type Skill } from "kitbag";
import type { ModelTool } from "kitbag/models";
import { loadSkills } from "kitbag/skills";

import type { Stage } from "./drive-model.ts";

const directory = resolve(import.meta.dirname, "../../skills");

/** Reads the skills that ship with Kitbag. */
export async function loadExampleSkills(): Promise<Skill[]> {
  const { reports } = await loadSkills({ directories: [directory] });
  return reports.flatMap(({ skill }) => skill ?? []);
}

/** The skill tools as an agent shows them. */
const skillTools: readonly ModelTool[] = ["activate_skill", "deactivate_skill"].map((name) => ({
  type: "function",
  name,
  description:
    name === "activate_skill"
      ? "Opens a skill: answers with its instructions; its tools exist from then on."
      : "Closes a skill.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
    additionalProperties: false,
  },
}));

/**
 * A stage with the example skills, closed, in a workspace of their own: they are really opened, their tools are really there. What
 * the tools answer is given, so that no sandbox is needed; without an answer it is their name.
 */
export function exampleSkillsStage(
  skills: readonly Skill[],
  answers: Readonly<Record<string, unknown>> = {},
  others: readonly ModelTool[] = [],
): Stage {
  const workspace = createWorkspace({ skills, runtimes: [] });
  const open = new Set<string>();
  return {
    system: `You are a helpful agent. Today is 2026-11-16.\n\n${workspace.renderCatalog().text}`,
    tools: () => [
      ...skillTools,
      ...others,
      ...workspace.getAvailableTools().map(({ wireName, tool }): ModelTool => ({
        type: "function",
        name: wireName,
        description: tool.description,
        inputSchema: tool.inputSchema as ModelTool["inputSchema"],
        inputExamples: tool.examples.map(({ input }) => ({ input: input as never })),
      })),
    ],
    async run(tool, input) {
      const { name = "" } = input as { name?: string };
      if (tool === "activate_skill") {
        const outcome = await workspace.activateSkill(name);
        if (outcome.status === "failed") throw new Error(outcome.error.message);
        open.add(name);
        return workspace.invokeSkill(name);
      }
      if (tool === "deactivate_skill") {
        await workspace.deactivateSkill(name);
        return "closed";
      }
      return answers[tool] ?? `result of ${tool}`;
    },
  };
}
