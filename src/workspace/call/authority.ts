import { toFailure, type Failure, KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { isOwnTool } from "../../core/own-tools.ts";
import { isThereFor, mayCallTool, toToolScopes, type Scopes, type ScopesOf } from "../../core/scopes.ts";
import type { ToolAuthor, ToolContext } from "../../core/tool.ts";
import { isHostCode, type Entry, type MissingTool, type RegisteredTool } from "../registry/registered-tool.ts";
import { findReused } from "../skills/skill-tools.ts";
import type { Call } from "./call.ts";
import type { CallOptions } from "./call-options.ts";

/**
 * Says why a call may not be made by those who make it; nothing if it may. This is the whole rule of which tool may call which:
 *
 * 1. The outermost caller needs the scopes for every tool that is called, however the call comes about, and so does each agent on whose
 *    behalf it is. What another user made and has not shared does not exist for them.
 * 2. Code that is not the host program's must own the tool, or declare it in `uses`.
 * 3. No such code, and nothing that it calls, reaches a tool that works on the tools themselves.
 * 4. A read-only tool calls only read-only tools.
 * 5. A tool that was made here calls only what its author could call then, and can call now.
 *
 * What the called tool may touch (files, hosts, variables) is its own grant, and no matter of this.
 */
export function refuseByAuthority(call: Call): Failure | undefined {
  const { entry, partOf = entry } = call.found;
  return refuseOutermost(call, partOf) ?? refuseNested(call);
}

/** Why the outermost caller of `call`, or an agent between, may not call a tool; nothing if they may. */
export function refuseOutermost(call: Call, entry: Entry): Failure | undefined {
  const { user, host } = call;
  if (user !== undefined && !isThereFor(entry.tool.author, host.users.ownerOf(user))) {
    return hideUnseen(call, toFailure("tool-not-found", host.registry.notFound(entry.address)));
  }
  return refuseByScopes(call, entry);
}

function refuseByScopes({ options: { scopes, refuse }, parent }: Call, entry: Entry): Failure | undefined {
  if (scopes !== undefined && !mayCallTool(scopes, entry)) {
    return toFailure("scope-missing", { tool: entry.address, scopes: toToolScopes(entry) });
  }
  return refuse?.(entry) ?? (parent && refuseByScopes(parent, entry));
}

/** Why the calls around `call` may not make it; nothing if they may, or if it is the outermost one. */
export function refuseNested(call: Call): Failure | undefined {
  if (call.parent === undefined) return undefined;
  const { entry, partOf: target = entry } = call.found;
  const { entry: caller, partOf = caller } = call.parent.found;
  // A part of a composed tool is the composed tool.
  if (target !== entry && target === partOf) return undefined;
  const names = { tool: target.address, caller: caller.address };
  if (call.isBelowCode && isReserved(target)) return toFailure("tool-reserved", names);
  if (!mayReach(call, partOf, target)) {
    return toFailure("tool-undeclared", { ...names, ...(caller.source === "skill" && { skill: caller.owner }) });
  }
  if (caller.tool.annotations.readOnly === true && target.tool.annotations.readOnly !== true) {
    return toFailure("caller-read-only", names);
  }
  return refuseAuthors(call, target);
}

/**
 * Why a call finds no tool: code in a sandbox is told that a tool of Kitbag itself is kept from it, also where the workspace does not
 * have that tool.
 */
export function refuseMissing(call: Call, { requested, failure }: MissingTool): Failure {
  const { isBelowCode, parent } = call;
  if (parent === undefined || !isBelowCode || failure.code !== "tool-not-found" || !isOwnTool(requested)) {
    return hideUnseen(call, failure);
  }
  return toFailure("tool-reserved", { tool: requested, caller: parent.entry.address });
}

/** A failure that names no tool which is not there for the user of the call. */
function hideUnseen({ user, host }: Call, failure: Failure): Failure {
  if (user === undefined || failure.code !== "tool-not-found") return failure;
  const { tool, nearest, count } = failure.details;
  const owner = host.users.ownerOf(user);
  const unseen = new Set<string>();
  for (const entry of host.registry.entries()) {
    if (!isThereFor(entry.tool.author, owner)) unseen.add(entry.address);
  }
  const seen = nearest.filter((name) => !unseen.has(name));
  return toFailure("tool-not-found", { tool, nearest: seen, count: count - unseen.size });
}

function isReserved({ tool }: Entry): boolean {
  return tool.meta === true || tool.code.kind === "code";
}

/** Whether a tool's code owns another tool, or declares it. The host program's own code need not declare tools outside skills. */
function mayReach({ host, holder }: Call, caller: Entry, target: Entry): boolean {
  if (caller.address === target.address) return true;
  const reused = findReused(caller.tool);
  if (reused !== undefined) return reused === target.address;
  if (caller.source !== "global" && caller.owner === target.owner) return true;
  const isHost = isHostCode(caller);
  // An agent of the host program has a workspace of its own choice.
  if (isHost && caller.tool.code.kind === "agent") return true;
  // Kitbag's own skills, which make tools and run programs, call what the outermost caller may call.
  if (isHost && isReserved(caller)) return true;
  if (isHost && (caller.source !== "skill" || target.source !== "skill")) return true;
  if (caller.source === "skill") return host.skills.mayUse(caller.owner, target, holder);
  return (caller.tool.uses ?? []).some((address) => {
    const found = host.registry.resolveFor(holder, address, undefined);
    return found.ok && found.entry.address === target.address;
  });
}

function refuseAuthors({ host, parent }: Call, target: Entry): Failure | undefined {
  for (let around = parent; around !== undefined; around = around.parent) {
    const { author } = around.entry.tool;
    if (author !== undefined && !mayAuthorCall(author, target, host.scopesOf)) {
      const names = { tool: target.address, caller: around.address, author: author.user ?? "its author" };
      return toFailure("author-denied", { ...names, scopes: toToolScopes(target) });
    }
  }
  return undefined;
}

/** Whether the author of a tool could call `target` when it was made, and can call it now. */
function mayAuthorCall({ user, scopes }: ToolAuthor, target: Entry, scopesOf: ScopesOf | undefined): boolean {
  const then: Scopes = scopes === "all" ? scopes : new Set(scopes);
  if (!mayCallTool(then, target)) return false;
  const now = user === undefined ? undefined : scopesOf?.(user);
  return now === undefined || mayCallTool(now, target);
}

/** A caller for whom not everything is there: a user, or one who may not call every tool. */
export interface LimitedCaller {
  /** Tells whether what is recorded of `user` is the caller's own. */
  readonly owns: (user: unknown) => boolean;
  /** Why they may not call a tool; `undefined` if they may. */
  readonly refuse: (tool: RegisteredTool) => Failure | undefined;
}

type ContextCall = ToolContext["call"];

const calls = new WeakMap<ContextCall, Call>();

/** Remembers which call the `call` of a context belongs to: tools that work on tools ask who calls them, and agents call on their behalf. */
export function keepCaller(contextCall: ContextCall, call: Call): void {
  calls.set(contextCall, call);
}

/** The call that the `call` of a context belongs to. @throws {KitbagError} `option-invalid` if it is of a tool that is no agent. */
export function findCaller(contextCall: ContextCall): Call {
  const call = calls.get(contextCall);
  if (call !== undefined) return call;
  const expected = "the call of the context that a tool got which is an agent";
  throw new KitbagError("option-invalid", { option: "inside", found: showValue(contextCall), expected });
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

/** The scopes of the outermost caller, to be written down. What a function allows cannot be: then the list is empty. */
export function toRecordedScopes({ options: { scopes = "all", refuse }, parent }: Call): ToolAuthor["scopes"] {
  const around = parent === undefined ? "all" : toRecordedScopes(parent);
  if (scopes === "all") return refuse === undefined ? around : [];
  return [...scopes].filter((scope) => around === "all" || around.includes(scope)).toSorted();
}

/** Whether the outermost caller may not call every tool. */
export function isLimited({ options, parent }: Call): boolean {
  const isOwn = options.refuse !== undefined || (options.scopes !== undefined && options.scopes !== "all");
  return isOwn || (parent !== undefined && isLimited(parent));
}

/**
 * What is said with a call that is made again for the user who made it first: that user, who may call what they could call then and
 * can call now. Without `scopesOf` that is what they could call then.
 *
 * @throws {KitbagError} `user-unknown` if it is not known what the user may call now.
 */
export function toPastUser(
  { user, scopes = "all" }: Partial<ToolAuthor>,
  scopesOf: ScopesOf | undefined,
): Pick<CallOptions, "user" | "scopes" | "refuse"> {
  const then: Scopes = scopes === "all" ? scopes : new Set(scopes);
  if (user === undefined) return { scopes: then };
  const now = scopesOf === undefined ? then : findScopes(user, scopesOf);
  if (now === "all") return { user, scopes: then };
  const refuse: CallOptions["refuse"] = (entry) =>
    mayCallTool(then, entry)
      ? undefined
      : toFailure("scope-missing", { tool: entry.address, scopes: toToolScopes(entry) });
  return { user, scopes: now, ...(then !== "all" && then !== now && { refuse }) };
}

/** The scopes that a user has now. @throws {KitbagError} `user-unknown` if that is not known. */
export function findScopes(user: string, scopesOf: ScopesOf): Scopes {
  const scopes = scopesOf(user);
  if (scopes === undefined) throw new KitbagError("user-unknown", { user });
  return scopes;
}
