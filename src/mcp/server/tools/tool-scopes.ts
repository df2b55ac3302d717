import type { Caller } from "../../../gate/gate.ts";
import { hasScope } from "../../../gate/has-scope.ts";
import type { RegisteredTool } from "../../../workspace/registered-tool.ts";

/**
 * The scopes that let somebody call a tool; one of them is enough, and `tools` is all of them.
 *
 * | scope | lets call |
 * |---|---|
 * | `tools` | every tool |
 * | `tools:of:pdf` | the tools of the skill or component `pdf`; `tools:of:global` those of the workspace itself |
 * | `tools:of:pdf:extract` | this one |
 * | `tools:read` | tools that say that they only read |
 * | `tools:write` | tools that do not say that they destroy |
 */
export function toToolScopes({ owner, tool }: RegisteredTool): readonly string[] {
  const { readOnly, destructive } = tool.annotations;
  return [
    `tools:of:${owner}:${tool.name}`,
    ...(readOnly === true ? ["tools:read"] : []),
    ...(destructive === true ? [] : ["tools:write"]),
  ];
}

/** Tells whether a caller may call a tool. */
export function mayCall(caller: Caller, entry: RegisteredTool): boolean {
  return hasAllTools(caller) || toToolScopes(entry).some((scope) => hasScope(caller, scope));
}

/** Tells whether a caller may call every tool. */
export function hasAllTools(caller: Caller): boolean {
  return hasScope(caller, "tools");
}
