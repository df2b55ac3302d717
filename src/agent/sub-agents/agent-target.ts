import { type AgentCode, givesAway } from "../../core/agent-code.ts";
import type { Tool } from "../../core/tool.ts";
import type { RunOptions, Task } from "../agent-options.ts";
import type { AgentParts } from "../agent-parts.ts";

/** What is behind a tool that is an agent of the program. */
export interface AgentTarget {
  readonly agent: AgentParts;
  readonly options: Pick<RunOptions, "output" | "skills" | "limits">;
  readonly toTask: (input: unknown) => Task;
}

/** Code that is an agent of the program. */
export interface AgentToolCode extends AgentCode {
  readonly open: () => AgentTarget;
}

/** Code that gives the conversation to an agent of the program. */
export interface HandoffCode extends AgentCode {
  readonly next: () => AgentParts;
}

/** Tells whether code gives the conversation away. */
export function isHandoff(code: Tool["code"]): code is HandoffCode {
  return givesAway(code);
}

/** Tells whether code is an agent of the program. */
export function isAgentTool(code: Tool["code"]): code is AgentToolCode {
  return code.kind === "agent" && "open" in code;
}
