import type { ModelTool } from "kitbag/models";

import type { MadeCall } from "../support/drive-model.ts";

/** A request, and what a modest model does with it. */
export interface LocalRequest {
  /** One message, or several in turn. */
  readonly ask: string | readonly string[];
  /** The calls in order, without the opening of skills; or that it asks for what is missing, or runs nothing. */
  readonly want: readonly MadeCall[] | "ask" | "decline";
}

/** One call. */
export function call(tool: string, input: object): readonly MadeCall[] {
  return [[tool, input]];
}

/** A tool as a server declares it. */
export function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
  required: readonly string[] = [],
): ModelTool {
  return { type: "function", name, description, inputSchema: { type: "object", properties, required: [...required] } };
}

/** A parameter. */
export function parameter(type: "boolean" | "integer" | "number" | "string") {
  return (description?: string, more: object = {}): object => ({
    type,
    ...(description !== undefined && { description }),
    ...more,
  });
}
