import type { Tool, ToolCode } from "./tool.ts";

/** Code that is an agent: a call of it is a run of that agent. */
export interface AgentCode extends ToolCode {
  readonly kind: "agent";
  /** Runs it where the call is not made by a run of another agent. @default the tool is available only to agents */
  readonly alone?: unknown;
}

/** An agent that comes with a skill, as a file `agents/<name>.md`: the run that calls it lends it its model. */
export interface SkillAgentCode extends AgentCode {
  readonly skill: string;
  /** What the agent is and does: the text of the file. */
  readonly instructions: string;
  /** The tools that it sees. @default those of its skill, and those that the skill declares in `uses` */
  readonly tools?: readonly string[];
  /** The model that its author wishes for. */
  readonly model?: string;
}

/** Tells whether code is an agent that comes with a skill. */
export function isSkillAgent(code: ToolCode): code is SkillAgentCode {
  return code.kind === "agent" && "instructions" in code;
}

/** Tells whether code gives the conversation to another agent. */
export function givesAway(code: ToolCode): boolean {
  return code.kind === "agent" && "next" in code;
}

/** Tells whether a tool can be called only by agents: nothing else can run its code. */
export function isForAgents({ code }: Pick<Tool, "code">): boolean {
  return code.kind === "agent" && !("alone" in code);
}
