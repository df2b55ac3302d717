import type { Failure } from "../../core/errors.ts";
import type { ToolContext } from "../../core/tool-context.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import type { RegisteredTool } from "../registered-tool.ts";
import { refuseOutermost } from "./authority.ts";
import type { Call } from "./call.ts";

/** A caller for whom not everything is there: a user, or one who may not call every tool. */
export interface LimitedCaller {
  /** Tells whether what is recorded of `user` is the caller's own. */
  readonly owns: (user: unknown) => boolean;
  /** Why they may not call a tool; `undefined` if they may. */
  readonly refuse: (tool: RegisteredTool) => Failure | undefined;
}

type ContextCall = ToolContext["call"];

const calls = new WeakMap<ContextCall, Call>();

/** Remembers which call the `call` of a context belongs to: tools that work on tools ask who calls them. */
export function keepCaller(contextCall: ContextCall, call: Call): void {
  calls.set(contextCall, call);
}

/** For whom calls are made with the `call` of a context, unless it is the program itself. */
export function findLimitedCaller(contextCall: ContextCall | undefined): LimitedCaller | undefined {
  const call = contextCall && calls.get(contextCall);
  if (call === undefined || !(isLimited(call) || call.user !== undefined)) return undefined;
  const { user } = call;
  const { ownerOf } = call.host.users;
  const owns = (other: unknown): boolean => user !== undefined && ownerOf(user) === ownerOf(other as typeof user);
  return { owns, refuse: (tool) => refuseOutermost(call, tool) };
}

/** Who makes something with a tool that got `call` with its context: the person who runs Kitbag, if it got none. */
export function findAuthor(contextCall: ContextCall | undefined): ToolAuthor {
  const call = contextCall && calls.get(contextCall);
  if (call === undefined) return { scopes: "all" };
  const { user } = call.root.options;
  return { ...(user !== undefined && { user }), scopes: toRecordedScopes(call) };
}

/** The scopes of the outermost caller, to be written down. What a function allows cannot be: then there are none. */
export function toRecordedScopes({ root: { options } }: Call): ToolAuthor["scopes"] {
  const { scopes = "all", refuse } = options;
  if (scopes === "all") return refuse === undefined ? scopes : [];
  return [...scopes].toSorted();
}

/** Whether the outermost caller may not call every tool. */
export function isLimited({ root: { options } }: Call): boolean {
  return options.refuse !== undefined || (options.scopes !== undefined && options.scopes !== "all");
}
