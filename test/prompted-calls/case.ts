import type { JsonObject } from "../../src/core/json.ts";
import type { CallableTool } from "../../src/models/prompted/tool-index.ts";

/** One answer of a model, and exactly what must be found in it. */
export interface Case {
  readonly text: string;
  /** @default none */
  readonly calls?: readonly (readonly [name: string, input: JsonObject])[];
  /** @default "" */
  readonly prose?: string;
  /** @default "" */
  readonly reasoning?: string;
  /** Kinds of problems. @default none */
  readonly problems?: readonly string[];
  /** Of all calls, in order. @default none */
  readonly repairs?: readonly string[];
}

/** A case in which nothing is a call and everything is prose. */
export function prose(text: string): Case {
  return { text, prose: text };
}

/** What is said of repairs, by a short name. */
export const said = {
  quotes: 'other quotes than " were read as quotes',
  comma: "a comma too many was dropped",
  noComma: "a missing comma was added",
  keys: "quotes were put around keys",
  comments: "comments were dropped",
  python: "True, False or None of Python were read",
  innerQuotes: "quotes inside a text were escaped",
  lineBreaks: "line breaks inside a text were escaped",
  brackets: "missing brackets were added",
  wrongBracket: "a bracket was replaced by the right one",
  noTag: "the closing tag was missing",
  backslashes: "backslashes that escape nothing were kept",
  path: "the backslashes of a path were doubled",
  number: "a number was written as JSON",
  guessed: "what was not JSON was repaired",
  encoded: "JSON that was written as a text was read",
  key: "the key was taken as the name of the tool",
  order: "values were taken in the order of the properties",
} as const;

const text = { type: "string" };
const whole = { type: "integer" };

/** The tools that the cases call. */
export const tools: readonly CallableTool[] = [
  tool("get_weather", { city: text, days: whole }, ["city"]),
  tool("search", { query: text, limit: whole, tags: { type: "array", items: text } }, ["query"]),
  tool("write_file", { path: text, content: text }, ["path", "content"]),
  tool("list_files", {}, []),
  tool("set_flag", { flag: text, value: { type: "boolean" } }, ["flag", "value"]),
  tool("pdf__extract", { file: text, pages: { type: "array", items: whole } }, ["file"]),
  tool(
    "send",
    { to: text, options: { type: "object", properties: { urgent: { type: "boolean" }, cc: { type: "array" } } } },
    ["to"],
  ),
];

function tool(name: string, properties: Record<string, unknown>, required: readonly string[]): CallableTool {
  return { name, inputSchema: { type: "object", properties, required, additionalProperties: false } };
}

/** The call that most cases make. */
export const paris = ["get_weather", { city: "Paris" }] as const;
/** Another one. */
export const cats = ["search", { query: "cats" }] as const;
