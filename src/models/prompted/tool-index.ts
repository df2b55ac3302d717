import type { JSONSchema7 } from "@ai-sdk/provider";

import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";

/** What the parser must know of a tool: the functions of a {@link ModelCall} are such, and tools of a workspace too. */
export interface CallableTool {
  readonly name: string;
  readonly inputSchema: JsonSchema | JSONSchema7;
}

/** The tools that may be called, by name. */
export interface ToolIndex {
  readonly names: readonly string[];
  /** The tool of this very name. */
  get(name: string): CallableTool | undefined;
  /** The tool that is meant by a name: this very one, or the only one that differs in case and separators. */
  find(name: string): CallableTool | undefined;
  /** Tells whether a name of a tool begins like this, whatever the case and the separators. */
  isBeginning(text: string): boolean;
}

/** The longest name that is looked for. */
const longestName = 160;
/** What models put before a name. */
const prefixes = ["functions", "tools", "defaultapi", "call"];
const prefix = /^(?:functions?|tools?|default_api|call)[.:/]/iu;

const indexes = new WeakMap<object, ToolIndex>();

/** Makes the index of a list of tools, once for each list. */
export function toToolIndex(tools: readonly CallableTool[]): ToolIndex {
  const known = indexes.get(tools);
  if (known !== undefined) return known;
  const exact = new Map<string, CallableTool>();
  const folded = new Map<string, CallableTool | undefined>();
  for (const tool of tools) {
    exact.set(tool.name, tool);
    const key = foldName(tool.name);
    // Two tools that differ in case alone are told apart by their names or not at all.
    folded.set(key, folded.has(key) ? undefined : tool);
  }
  const beginnings = new Set(
    [...folded.keys(), ...prefixes].flatMap((name) =>
      Array.from({ length: name.length }, (_, index) => name.slice(0, index + 1)),
    ),
  ).add("");
  const index: ToolIndex = {
    names: [...exact.keys()],
    get: (name) => exact.get(name),
    find(name) {
      if (name.length > longestName) return undefined;
      return exact.get(name) ?? folded.get(foldName(name)) ?? folded.get(foldName(name.replace(prefix, "")));
    },
    isBeginning(text) {
      if (text.length > longestName) return false;
      return beginnings.has(foldName(text)) || beginnings.has(foldName(text.replace(prefix, "")));
    },
  };
  indexes.set(tools, index);
  return index;
}

/** A name without case and separators. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

/** The properties of a tool's input by name, in their order. */
export function propertiesOf(tool: CallableTool): readonly (readonly [name: string, schema: JsonSchema])[] {
  const schema: unknown = tool.inputSchema;
  const properties = isSchemaObject(schema) && isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).map(([name, property]) => [name, isSchemaObject(property) ? property : {}]);
}

/** The one property that a tool with a single value takes: its only required one, or its only one. */
export function singleProperty(tool: CallableTool): string | undefined {
  const schema: unknown = tool.inputSchema;
  const required = isSchemaObject(schema) && Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const names = propertiesOf(tool).map(([name]) => name);
  if (required.length === 1 && typeof required[0] === "string" && names.includes(required[0])) return required[0];
  return names.length === 1 ? names[0] : undefined;
}
