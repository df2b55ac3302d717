import { findWrongOption, isFunction, isObject, type Expectations } from "../../workspace/find-wrong-option.ts";
import { refuse, refuseFound, refuseIf, trueOrFalse } from "../expectations.ts";
import type { Breakpoint, DebuggerOptions, DebugStop } from "./debug-stop.ts";

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
export function checkDebuggerOptions(options: DebuggerOptions): void {
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
export function checkAction({ where }: DebugStop, action: unknown): void {
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
