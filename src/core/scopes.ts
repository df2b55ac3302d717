import type { Tool } from "./tool.ts";

/** What a caller may do: everything, or what these scopes name. */
export type Scopes = "all" | ReadonlySet<string>;

/** The scopes that a user has now; nothing if that is not known here, no scopes if the user is gone. */
export type ScopesOf = (user: string) => Scopes | undefined;

/** A tool in a workspace, as far as scopes look at it. */
interface ScopedTool {
  readonly tool: Pick<Tool, "name" | "annotations">;
  readonly owner: string;
}

/**
 * Tells whether `scopes` allow what `scope` names. A wider scope holds for the narrower ones behind its colons:
 * `tools` holds for `tools:pdf`, and for `tools:pdf:merge` too.
 */
export function hasScope(scopes: Scopes, scope: string): boolean {
  if (scopes === "all") return true;
  let end = scope.length;
  while (end > 0) {
    if (scopes.has(scope.slice(0, end))) return true;
    end = scope.lastIndexOf(":", end - 1);
  }
  return false;
}

/**
 * The scopes that let a caller call a tool; one of them is enough, and `tools` is all of them.
 *
 * | scope | lets call |
 * |---|---|
 * | `tools` | every tool |
 * | `tools:of:pdf` | the tools of the skill or component `pdf`; `tools:of:global` those of the workspace itself |
 * | `tools:of:pdf:extract` | this one |
 * | `tools:read` | tools that say that they only read |
 * | `tools:write` | tools that do not say that they destroy |
 */
export function toToolScopes({ owner, tool }: ScopedTool): readonly string[] {
  const { readOnly, destructive } = tool.annotations;
  return [
    `tools:of:${owner}:${tool.name}`,
    ...(readOnly === true ? ["tools:read"] : []),
    ...(destructive === true ? [] : ["tools:write"]),
  ];
}

/** Tells whether `scopes` let a caller call a tool. */
export function mayCallTool(scopes: Scopes, entry: ScopedTool): boolean {
  return hasAllTools(scopes) || toToolScopes(entry).some((scope) => hasScope(scopes, scope));
}

/** A text that is the same for scopes that are the same. */
export function toScopesKey(scopes: Scopes): string {
  return scopes === "all" ? scopes : JSON.stringify([...scopes].toSorted());
}

/** Tells whether `scopes` let a caller call every tool. */
export function hasAllTools(scopes: Scopes): boolean {
  return hasScope(scopes, "tools");
}

/**
 * The name of the local user: the person who runs Kitbag on this machine. Calls over stdio, and over HTTP where no token is asked for,
 * are theirs, and so is what was kept without a user.
 */
export const localUser = "local";

/** Who owns what a tool or a skill was made by, as far as it says so. */
interface Owned {
  readonly owner?: string | undefined;
  readonly shared?: boolean | undefined;
}

/** Tells whether what a user made is there for the user `owner` (nothing: the local user): it is, if it is theirs, or shared. */
export function isThereFor(made: Owned | undefined, owner: string | undefined): boolean {
  return made?.owner === undefined || made.shared === true || made.owner === owner;
}
