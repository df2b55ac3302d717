import { anybody, createScopesOf } from "../../gate/access/token-check.ts";
import type { ScopesOf } from "../../core/scopes.ts";
import type { Invocation } from "../cli-command.ts";
import { findTokenPlaces, readTokens, withoutMissing } from "../serve/read-tokens.ts";

/**
 * What users may call, as far as a command knows: the person who runs it everything, others what the tokens of `kitbag serve` say.
 * Without tokens nothing is known of others.
 */
export function createLocalScopes(invocation: Invocation, person: string | undefined): ScopesOf {
  return (user) => {
    if (user === person || user === anybody.id) return "all";
    const tokens = readTokens(withoutMissing(findTokenPlaces(invocation)));
    return tokens.length === 0 ? undefined : createScopesOf(tokens)(user);
  };
}
