import type { Caller } from "./gate.ts";

/**
 * Tells whether `caller` may do what `scope` names. A wider scope holds for the narrower ones behind its colons:
 * who has `tools` has `tools:pdf`, and `tools:pdf:merge` too.
 */
export function hasScope(caller: Caller, scope: string): boolean {
  const { scopes } = caller;
  if (scopes === "all") return true;
  let end = scope.length;
  while (end > 0) {
    if (scopes.has(scope.slice(0, end))) return true;
    end = scope.lastIndexOf(":", end - 1);
  }
  return false;
}
