import { createMutex } from "../../core/async.ts";
import { isObject, type JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import { type Expectations, findWrongOption, isFunction } from "../../workspace/options/find-wrong-option.ts";
import type { ModelAnswered } from "../events.ts";
import { refuse, refuseFound, refuseIf, trueOrFalse } from "../expectations.ts";
import type { AgentCall, AgentHooks } from "../hooks.ts";

/**
 * Makes the hooks with which a user steps through a run. Calls that are made at the same time stop one after the other.
 *
 * @throws {KitbagError} `option-invalid` if an option is wrong. A run ends with it if what is to happen next cannot happen there.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool } from "kitbag";
 * import { createAgent, createDebugger, type AgentRun } from "kitbag/agent";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 6 });
 * const agent = createAgent({ model: "local", workspace: createWorkspace({ tools: [roll] }) });
 *
 * const places: string[] = [];
 * const run: AgentRun = agent.run("Roll a die", {
 *   hooks: createDebugger({
 *     breakpoints: [{ tool: "roll" }],
 *     stop: () => run.stop(),
 *     onStop({ where }) {
 *       places.push(where);
 *       return where === "outcome" ? { action: "continue", outcome: { status: "ok", output: 1 } } : { action: "continue" };
 *     },
 *   }),
 * });
 * const { text } = await run;
 * console.assert(places.join() === "call,outcome" && text.includes("1"));
 * ```
 */
export function createDebugger(options: DebuggerOptions): AgentHooks {
  checkDebuggerOptions(options);
  const { breakpoints = [], stopAtStart = breakpoints.length === 0, onStop, stop } = options;
  const oneAtATime = createMutex();
  let steps = stopAtStart;
  let waiting = 0;
  let isStopped = false;
  let seen: Pick<DebugStop, "messages" | "tools"> = { messages: [], tools: [] };

  async function ask(place: DebugStop): Promise<DebugAction | undefined> {
    if (isStopped || (!steps && !breakpoints.some((breakpoint) => isAt(breakpoint, place)))) return undefined;
    const action = await onStop(place);
    checkAction(place, action);
    steps = action.action === "step" || action.action === "retry";
    isStopped = action.action === "stop";
    if (isStopped) stop();
    return action;
  }

  // Calls that run at the same time stop at the same time: what was said about one decides whether the next stops at all.
  async function halt(at: Omit<DebugStop, "messages" | "tools">): Promise<DebugAction | undefined> {
    const place: DebugStop = { ...at, ...seen };
    waiting += 1;
    try {
      return await oneAtATime(() => ask(place));
    } finally {
      waiting -= 1;
      // The next attempt to continue the run asks again.
      if (waiting === 0) isStopped = false;
    }
  }

  return {
    async beforeModel({ prompt, tools = [] }, { run, step }) {
      seen = { messages: prompt, tools: tools.map(({ name }) => name) };
      await halt({ where: "model", run, step });
      return undefined;
    },
    async afterModel(answer) {
      const action = await halt({ where: "answer", run: answer.run, step: answer.step, answer });
      return action?.action === "retry" ? "again" : undefined;
    },
    async beforeCall(call) {
      const action = await halt({ where: "call", run: call.run, step: call.step, call });
      if (action === undefined) return undefined;
      if ("outcome" in action) return { outcome: action.outcome };
      return "input" in action && action.input !== undefined ? { input: action.input } : undefined;
    },
    async afterCall(call, outcome) {
      const action = await halt({ where: "outcome", run: call.run, step: call.step, call, outcome });
      if (action?.action === "retry") return { again: action.input ?? call.input };
      return action !== undefined && "outcome" in action ? action.outcome : undefined;
    },
  };
}

/** Whether a run is to stop at a place. */
export function isAt({ step, tool, when }: Breakpoint, stop: DebugStop): boolean {
  if (step !== undefined && (stop.where !== "model" || stop.step !== step)) return false;
  if (tool !== undefined && stop.call?.tool !== tool) return false;
  return when === undefined ? step !== undefined || tool !== undefined : when(stop);
}

const optionExpectations: Expectations<DebuggerOptions> = {
  breakpoints: [Array.isArray, "a list of breakpoints"],
  stopAtStart: trueOrFalse,
  onStop: [isFunction, "a function that says what is to happen next"],
  stop: [isFunction, "a function that ends the run, such as () => run.stop()"],
};

const breakpointExpectations: Expectations<Breakpoint> = {
  step: [(value) => Number.isInteger(value) && Number(value) > 0, "a whole number above 0"],
  tool: [(value) => typeof value === "string" && value !== "", "the address of a tool"],
  when: [isFunction, "a function that tells whether to stop"],
};

/** Checks what a debugger is made of: a breakpoint that is called otherwise would be none. @throws {KitbagError} `option-invalid` */
function checkDebuggerOptions(options: DebuggerOptions): void {
  refuseIf(findWrongOption(options, optionExpectations));
  for (const name of ["onStop", "stop"] as const) {
    if (options[name] === undefined) refuseFound(name, "nothing", optionExpectations[name][1]);
  }
  for (const [index, breakpoint] of (options.breakpoints ?? []).entries()) {
    const option = `breakpoints[${index}]`;
    refuseIf(findWrongOption(breakpoint, breakpointExpectations, option));
    const { step, tool, when } = breakpoint;
    if (step === undefined && tool === undefined && when === undefined)
      refuseFound(option, "{}", "a step, a tool or when");
  }
}

const actions: ReadonlySet<unknown> = new Set(["step", "continue", "retry", "stop"]);

/** Checks what is to happen next. @throws {KitbagError} `option-invalid` if it is nothing, or cannot happen there. */
function checkAction({ where }: DebugStop, action: unknown): void {
  if (!isObject(action) || !("action" in action) || !actions.has(action.action)) {
    const found = isObject(action) && "action" in action ? action.action : action;
    refuse("action", found, '{ action }, which is "step", "continue", "retry" or "stop"');
  }
  const isRetry = action.action === "retry";
  if (isRetry) requirePlace("retry", where, ["answer", "outcome"]);
  if ("input" in action && action.input !== undefined) requirePlace("input", where, [isRetry ? "outcome" : "call"]);
  if ("outcome" in action && action.outcome !== undefined) requirePlace("outcome", where, ["call", "outcome"]);
}

function requirePlace(what: string, where: DebugStop["where"], places: readonly DebugStop["where"][]): void {
  if (places.includes(where)) return;
  refuseFound("action", `${what} where the run has stopped at "${where}"`, `it at ${places.join(" or ")}`);
}

/** Where a run is to stop: all that is said must hold. */
export interface Breakpoint {
  /** Before the model is asked for the so manieth time. */
  readonly step?: number;
  /** Before and after calls of this tool, by its address. */
  readonly tool?: string;
  /** Anything else. */
  readonly when?: (stop: DebugStop) => boolean;
}

/** A run that has stopped, and what can be seen there. */
export interface DebugStop {
  /** Before the model is asked, after it has answered, before a call, after one. */
  readonly where: "model" | "answer" | "call" | "outcome";
  readonly run: string;
  readonly step: number;
  /** What the model sees, or has seen. */
  readonly messages: readonly ModelMessage[];
  /** The names of the tools that it sees. */
  readonly tools: readonly string[];
  readonly answer?: ModelAnswered;
  readonly call?: AgentCall;
  readonly outcome?: ToolOutcome;
}

/** What is to happen next. */
export type DebugAction =
  /** Goes on to the next breakpoint. */
  | { readonly action: "continue" }
  /** Goes on to the next place where one can stop. */
  | { readonly action: "step" }
  /** Before a call: makes it with another input. */
  | { readonly action: "step" | "continue"; readonly input: JsonValue }
  /** Before or after a call: use this outcome instead. */
  | { readonly action: "step" | "continue"; readonly outcome: ToolOutcome }
  /** After an answer: asks the model again. After a call: makes it again, with another input if there is one. */
  | { readonly action: "retry"; readonly input?: JsonValue }
  /** Ends the run; it can be resumed. */
  | { readonly action: "stop" };

/** What a debugger is made of. */
export interface DebuggerOptions {
  readonly breakpoints?: readonly Breakpoint[];
  /** Whether it stops at the first place there is. @default true without breakpoints */
  readonly stopAtStart?: boolean;
  /** Asked at each stop, and never about two at a time; the run waits for the answer. */
  readonly onStop: (stop: DebugStop) => DebugAction | Promise<DebugAction>;
  /** Ends the run: `run.stop`. */
  readonly stop: () => void;
}
