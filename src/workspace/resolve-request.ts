import { toFailure, type Failure } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { Tool, ToolCode } from "../core/tool.ts";
import type { CallRequest } from "./call/call-request.ts";
import type { Found, Resolution } from "./entry.ts";
import type { Holder } from "./holder.ts";
import { isObject } from "./find-wrong-option.ts";
import type { Registry } from "./registry.ts";

/** Code that is made of other tools. */
interface ComposedCode extends ToolCode {
  readonly parts?: readonly Tool[];
}

/**
 * Finds the tool that is asked for, by address or as the tool itself. A tool that is not in the workspace can be called only by
 * a composed tool that it is a part of. `caller` is the tool that asks, if one does;
 * `holder` is for whom, if it is not the workspace.
 */
export function resolveRequest(
  registry: Registry,
  { tool, options }: CallRequest,
  caller: Found | undefined,
  holder: Holder = registry.own,
): Resolution {
  if (typeof tool === "string") return registry.resolveFor(holder, tool, options.from ?? ownerOf(caller));
  if (!isTool(tool)) {
    const address = showValue(tool);
    return refuse(address, toFailure("address-invalid", { address }));
  }
  const registered = registry.find(tool);
  const found = registered.length === 1 ? registered[0] : findPart(tool, caller);
  if (found !== undefined) return found;
  if (registered.length === 0) return refuse(tool.name, toFailure("tool-foreign", { tool: tool.name }));
  const addresses = registered.map(({ entry }) => entry.address);
  return refuse(tool.name, toFailure("tool-ambiguous", { tool: tool.name, addresses }));
}

function refuse(requested: string, failure: Failure): Resolution {
  return { ok: false, requested, failure };
}

function ownerOf(caller: Found | undefined): string | undefined {
  return caller === undefined || caller.entry.source === "global" ? undefined : caller.entry.owner;
}

function isTool(value: unknown): value is Tool {
  return (
    isObject(value) && "inputSchema" in value && "code" in value && "name" in value && typeof value.name === "string"
  );
}

function findPart(tool: Tool, caller: Found | undefined): Found | undefined {
  const code: ComposedCode | undefined = caller?.entry.tool.code;
  if (caller === undefined || code?.parts?.includes(tool) !== true) return undefined;
  const { entry, injected, partOf = entry } = caller;
  const address = `${entry.address}/${tool.name}`;
  const { source, owner } = entry;
  return { ok: true, entry: { tool, address, wireName: address, source, owner }, injected, partOf };
}
