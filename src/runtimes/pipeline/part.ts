import type { Problem } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { Tool, TypedTool } from "../../core/tool.ts";

/** A tool, and the function that makes its input. */
export interface MappedTool<From extends readonly unknown[], Input, Output> {
  readonly tool: TypedTool<Input, Output>;
  readonly input: (...from: From) => Input | Promise<Input>;
}

/** A part of a composed tool, its types sealed. */
export interface Part {
  readonly tool: Tool;
  /** The author's function makes its input; else it gets the properties that it has parameters for. */
  readonly isMapped: boolean;
  readonly toInput: (...from: readonly unknown[]) => unknown;
}

/** Reads the parts that an author gave. What is not a tool is added to `problems`, and left out. */
export function toParts<Key>(
  given: Iterable<readonly [key: Key, part: unknown]>,
  toPath: (key: Key) => string,
  problems: Problem[],
): Part[] {
  return Array.from(given, ([key, part]) => toPart(part, toPath(key), problems)).filter((part) => part !== undefined);
}

/** Reads a part that an author gave. What is not a tool is added to `problems`. */
export function toPart(given: unknown, path: string, problems: Problem[]): Part | undefined {
  const isMapped = typeof given === "object" && given !== null && "tool" in given;
  const tool = isMapped ? given.tool : given;
  if (!isTool(tool)) {
    problems.push({ path: isMapped ? `${path}.tool` : path, expected: "a tool", found: showValue(tool) });
    return undefined;
  }
  const map = isMapped && "input" in given ? given.input : undefined;
  if (map === undefined) return { tool, isMapped: false, toInput: (from) => pickParameters(tool.inputSchema, from) };
  if (typeof map === "function") return { tool, isMapped: true, toInput: map as Part["toInput"] };
  problems.push({ path: `${path}.input`, expected: "a function that makes the input", found: showValue(map) });
  return undefined;
}

/** Tells whether `value` is a tool, as far as a look at it can tell. */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, inputSchema, annotations, permissions, code } = value as Partial<Tool>;
  const fields = [inputSchema, annotations, permissions, code];
  return typeof name === "string" && fields.every((field) => typeof field === "object" && field !== null);
}

/**
 * Leaves out of `value` what a tool with this input schema has no parameters for, at every level. A value with more properties
 * than a type asks for fits the type, so what the compiler accepts between two steps must not fail when it runs.
 */
export function pickParameters(schema: unknown, value: unknown): unknown {
  if (!isSchemaObject(schema) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => pickParameters(schema["items"], item));
  const properties = schema["properties"];
  if (!isSchemaObject(properties) || !isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => isOpen(schema) || Object.hasOwn(properties, name));
  return Object.fromEntries(
    entries.map(([name, inner]) => [
      name,
      Object.hasOwn(properties, name) ? pickParameters(properties[name], inner) : inner,
    ]),
  );
}

function isOpen(schema: JsonSchema): boolean {
  return schema["additionalProperties"] !== false || schema["patternProperties"] !== undefined;
}
