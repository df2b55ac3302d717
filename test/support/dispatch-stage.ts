import { createWorkspace, defineTool, type Skill } from "kitbag";
import { localModel, type ModelTool } from "kitbag/models";

import { dispatchTools } from "../../src/agent/run/to-parts.ts";
import type { MadeCall, Stage } from "./drive-model.ts";

/** A stage on which tools and skills are found by searching, as an agent with the exposure `dispatch` shows them. */
export function dispatchStage(tools: readonly ModelTool[], skills: readonly Skill[] = []): Stage {
  const workspace = createWorkspace({
    skills,
    tools: tools.map(({ name, description = "", inputSchema }) =>
      defineTool({ name, description, input: inputSchema as never, run: () => `result of ${name}` }),
    ),
  });
  const session = workspace.openSession();
  const exposure = dispatchTools({ session, model: localModel(), instructions: "Today is 2026-11-16." });
  const { system, tools: shown } = exposure.view();
  return {
    system,
    tools: () => shown,
    async run(tool, input) {
      const { name } = input as { name?: string };
      const isOfSkill = tool === "call_tool" && name?.includes("__") === true;
      // What belongs to a skill would need a sandbox.
      if (isOfSkill) return `result of ${name}`;
      const outcome = await exposure.find(tool)?.run(input);
      if (outcome?.status === "failed") throw new Error(outcome.error.message);
      return outcome?.output;
    },
  };
}

/** The calls that were made by name, as if they had been made directly; what was only looked for is left out. */
export function toDirectCalls(calls: readonly MadeCall[]): MadeCall[] {
  return calls.flatMap(([tool, input]): MadeCall[] => {
    if (tool === "search_tools" || tool === "describe_tool") return [];
    if (tool !== "call_tool") return [[tool, input]];
    const { name, input: given } = input as { name: string; input?: unknown };
    return [[name, given ?? {}]];
  });
}
