import { KitbagError, toFailure } from "../../core/errors.ts";
import { mayCallTool, toToolScopes, type Scopes, type ScopesOf } from "../../core/scopes.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import type { CallOptions } from "./call-options.ts";

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
