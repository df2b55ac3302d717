import { toFailure } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { Tool, ToolCode } from "../core/tool.ts";
import type { Call } from "./call/call.ts";
import type { CallRequest } from "./call/call-request.ts";
import type { Entry, Registry, Resolution } from "./registry.ts";

/** Code that is made of other tools. */
interface ComposedCode extends ToolCode {
  readonly parts?: readonly Tool[];
}

/**
 * Finds the tool that is asked for, by address or as the tool itself. A tool that is not in the workspace can be called only by
 * a composed tool that it is a part of.
 */
export function resolveRequest(
  registry: Registry,
  { tool, options }: CallRequest,
  parent: Call | undefined,
): Resolution {
  if (typeof tool === "string") return registry.resolve(tool, options.from ?? ownerOf(parent));
  if (!isTool(tool)) {
    return {
      ok: false,
      requested: showValue(tool),
      failure: toFailure("address-invalid", { address: showValue(tool) }),
    };
  }
  const [entry = findPart(tool, parent), ...others] = registry.find(tool);
  if (entry === undefined) {
    return { ok: false, requested: tool.name, failure: toFailure("tool-foreign", { tool: tool.name }) };
  }
  if (others.length === 0) return { ok: true, entry };
  const addresses = [entry, ...others].map((one) => one.address);
  return { ok: false, requested: tool.name, failure: toFailure("tool-ambiguous", { tool: tool.name, addresses }) };
}

function ownerOf(call: Call | undefined): string | undefined {
  return call?.entry === undefined || call.entry.source === "global" ? undefined : call.entry.owner;
}

function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "inputSchema" in value && "code" in value && "name" in value;
}

function findPart(tool: Tool, parent: Call | undefined): Entry | undefined {
  const owner = parent?.entry;
  const code: ComposedCode | undefined = owner?.tool.code;
  if (owner === undefined || code?.parts?.includes(tool) !== true) return undefined;
  const address = `${owner.address}/${tool.name}`;
  return { tool, address, wireName: address, source: owner.source, owner: owner.owner, injected: owner.injected };
}
