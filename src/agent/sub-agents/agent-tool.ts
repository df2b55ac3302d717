import { longestTimerMs } from "../../core/async.ts";
import { createTool, type NoInput } from "../../core/define-tool.ts";
import { isObject } from "../../core/json.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { InputOf, Tool, ToolAnnotations } from "../../core/tool.ts";
import type { AgentCaller } from "../../workspace/call/call-options.ts";
import { type Expectations, findWrongOption, isFunction } from "../../workspace/options/find-wrong-option.ts";
import type { Agent } from "../agent-interface.ts";
import type { RunLimits, Task } from "../agent-options.ts";
import { type AgentParts, partsOf } from "../agent-parts.ts";
import type { AgentToolCode, HandoffCode } from "./agent-target.ts";
import { anObject, aText, refuse, refuseIf, trueOrFalse, aList, aFunction } from "../expectations.ts";

/** How an agent becomes a tool. */
export interface AgentToolOptions<Input extends SchemaSource = SchemaSource> {
  readonly name: string;
  /** What the agent does and when to use it: the model of the other agent decides by this text. */
  readonly description: string;
  /** @default one text, `task` */
  readonly input?: Input;
  /** Makes the task of the input. @default the text of `task`, else the input as JSON */
  readonly task?: (input: InputOf<Input>) => Task;
  /** The schema of its answer. @default text */
  readonly output?: SchemaSource;
  /** Skills that are open from the beginning. */
  readonly skills?: readonly string[];
  /** Limits of one call. What is left of the limits of the calling run always holds as well. */
  readonly limits?: Partial<RunLimits>;
  /** @default `{ parallelSafe: true }`: several sub-agents work at the same time */
  readonly annotations?: ToolAnnotations;
  readonly needsApproval?: boolean;
}

/** An agent, or a function that answers with it: for agents that know each other. */
export type AgentSource = Agent | (() => Agent);

/**
 * Makes a tool of an agent. Each call is a run of that agent, with its own model, instructions, skills, tools and limits. It may call
 * what its own workspace has and the caller may call. What it uses counts for the calling run.
 *
 * @throws {KitbagError} `option-invalid`, `tool-invalid`
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { agentTool, createAgent } from "kitbag/agent";
 * import { mockModel } from "kitbag/testing";
 *
 * const translator = createAgent({
 *   model: mockModel(["Bonjour"]),
 *   workspace: createWorkspace(),
 *   instructions: "You translate to French.",
 * });
 * const translate = agentTool(translator, { name: "translate", description: "Translates a text to French" });
 *
 * const writer = createAgent({
 *   model: mockModel([{ calls: [{ tool: "translate", input: { task: "Hello" } }] }, "Done: Bonjour"]),
 *   workspace: createWorkspace({ tools: [translate] }),
 * });
 * const { text } = await writer.run("Say hello in French");
 * console.assert(text === "Done: Bonjour");
 * ```
 */
export function agentTool<Input extends SchemaSource = NoInput>(
  agent: AgentSource,
  options: AgentToolOptions<Input>,
): Tool {
  const open = toSource(agent);
  refuseIf(findWrongOption(options, toolExpectations));
  const {
    name,
    description,
    input = taskSchema,
    output,
    needsApproval,
    annotations = { parallelSafe: true },
  } = options;
  const toTask = (options.task as ((given: unknown) => Task) | undefined) ?? taskOf;
  const { skills, limits } = options;
  const runOptions = { ...(output && { output }), ...(skills && { skills }), ...(limits && { limits }) };
  const code: AgentToolCode = {
    kind: "agent",
    open: () => ({ agent: open(), options: runOptions, toTask }),
    alone: aloneCaller,
  };
  return createTool({
    name,
    description,
    input,
    ...(output !== undefined && { output }),
    annotations,
    ...(needsApproval !== undefined && { needsApproval }),
    // The run has limits of its own.
    limits: { limitMs: longestTimerMs },
    code,
  });
}

/** How a handoff is shown. */
export interface HandoffOptions {
  /** @default "handoff" */
  readonly name?: string;
  /** When to hand the conversation over: the model decides by this text. @default that another agent goes on */
  readonly description?: string;
  readonly needsApproval?: boolean;
}

/**
 * Makes a tool that gives the conversation to another agent. That agent goes on with all messages, with its own model, instructions,
 * skills and tools, in the same run: the caller sees one run and gets one answer. The run keeps its limits and its guards.
 *
 * @throws {KitbagError} `option-invalid`, `tool-invalid`
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createAgent, handoff } from "kitbag/agent";
 * import { mockModel } from "kitbag/testing";
 *
 * const billing = createAgent({ model: mockModel(["Your bill is paid."]), workspace: createWorkspace() });
 * const toBilling = handoff(billing, { name: "to-billing", description: "Hands questions about bills over" });
 * const front = createAgent({
 *   model: mockModel([{ calls: [{ tool: "to-billing" }] }]),
 *   workspace: createWorkspace({ tools: [toBilling] }),
 * });
 *
 * const { text } = await front.run("Is my bill paid?");
 * console.assert(text === "Your bill is paid.");
 * ```
 */
export function handoff(agent: AgentSource, options: HandoffOptions = {}): Tool {
  const next = toSource(agent);
  refuseIf(findWrongOption(options, handoffExpectations));
  const { name = "handoff", description = "Hands the conversation over to another agent, which goes on with it" } =
    options;
  const code: HandoffCode = { kind: "agent", next };
  return createTool({
    name,
    description,
    input: { type: "object", properties: { reason: { type: "string", description: "why" } } },
    ...(options.needsApproval !== undefined && { needsApproval: options.needsApproval }),
    annotations: { readOnly: false, idempotent: true },
    code,
  });
}

/** Runs an agent where no other agent's run calls it: a client of MCP does, or a program. */
const aloneCaller: AgentCaller = {
  run: async (request) => (await import("./run-child.ts")).runAlone(request),
};

const taskSchema = {
  type: "object",
  properties: { task: { type: "string", description: "what to do, with everything that the agent needs to know" } },
  required: ["task"],
} as const;

function taskOf(input: unknown): Task {
  if (isObject(input) && "task" in input && typeof input.task === "string") return input.task;
  return JSON.stringify(input);
}

/** Looked at when it is called: agents that know each other cannot all be there at once. */
function toSource(agent: AgentSource): () => AgentParts {
  if (typeof agent === "function") return () => needParts(agent());
  const parts = needParts(agent);
  return () => parts;
}

function needParts(agent: Agent): AgentParts {
  return (
    partsOf(agent) ?? refuse("agent", agent, "an agent that createAgent made, or a function that answers with one")
  );
}

const toolExpectations: Expectations<AgentToolOptions> = {
  name: aText,
  description: aText,
  input: [(value) => isObject(value) || isFunction(value), "a schema"],
  task: aFunction,
  output: [(value) => isObject(value) || isFunction(value), "a schema"],
  skills: aList,
  limits: anObject,
  annotations: anObject,
  needsApproval: trueOrFalse,
};

const handoffExpectations: Expectations<HandoffOptions> = {
  name: aText,
  description: aText,
  needsApproval: trueOrFalse,
};
