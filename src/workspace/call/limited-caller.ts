import type { Failure } from "../../core/errors.ts";
import type { ToolContext } from "../../core/tool-context.ts";
import type { RegisteredTool } from "../registered-tool.ts";

/** Somebody who may not call every tool. */
export interface LimitedCaller {
  readonly user: string | undefined;
  /** Why they may not call a tool; `undefined` if they may. */
  readonly refuse: (tool: RegisteredTool) => Failure | undefined;
}

type ContextCall = ToolContext["call"];

const callers = new WeakMap<ContextCall, LimitedCaller>();

/** Keeps for whom a tool makes calls with the `call` of its context. */
export function keepCaller(call: ContextCall, caller: LimitedCaller): void {
  callers.set(call, caller);
}

/** For whom calls are made with the `call` of a context, if they may not call every tool. */
export function findLimitedCaller(call: ContextCall | undefined): LimitedCaller | undefined {
  return call && callers.get(call);
}
