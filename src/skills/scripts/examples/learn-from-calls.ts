import { isSchemaObject, type JsonSchema } from "../../../core/schema/json-schema.ts";
import { fitsOnce } from "../../../core/schema/engine.ts";
import type { ArgvPart, FlagPart, PropertyPart } from "../argv-mapping.ts";
import { findFileParameters } from "../facts/file-parameters.ts";
import type { ReadArgv } from "../../../core/script-code.ts";
import { toPropertyName } from "../parameter.ts";
import type { ScriptTool } from "../script-interface.ts";

/** A call of a tool as the instructions of its skill show it. */
export interface ShownCall {
  /** What stands after the script. */
  readonly words: readonly string[];
  readonly read: ReadArgv;
}

/**
 * Corrects a tool by the calls that the instructions show: flags that its code does not compare with anything, but that stand in the
 * script (`text`), and numbers that were taken for whole ones. What is declared stays as it is.
 */
export function learnFromCalls(tool: ScriptTool, calls: readonly ShownCall[], text: string): ScriptTool {
  if (tool.source === "manifest") return tool;
  const numbered = withFractions(tool, calls);
  return tool.confidence === "usage" ? withFlags(numbered, calls, text) : numbered;
}

/** An example `0.5` for a whole number is evidence that any number is meant. */
function withFractions(tool: ScriptTool, calls: readonly ShownCall[]): ScriptTool {
  const properties = isSchemaObject(tool.inputSchema["properties"]) ? tool.inputSchema["properties"] : {};
  const isFraction = (name: string): boolean =>
    calls.some(({ read: { input } }) => {
      const value = Object.hasOwn(input, name) ? input[name] : undefined;
      return typeof value === "number" && !Number.isInteger(value);
    });
  const wrong = Object.entries(properties).filter(
    ([name, schema]) => isSchemaObject(schema) && schema["type"] === "integer" && isFraction(name),
  );
  if (wrong.length === 0) return tool;
  const corrected = wrong.map(([name, schema]) => [name, { ...(schema as JsonSchema), type: "number" }] as const);
  return {
    ...tool,
    inputSchema: { ...tool.inputSchema, properties: { ...properties, ...Object.fromEntries(corrected) } },
  };
}

/** The code takes every flag and cuts off its dashes: `arg.slice(2)`, `arg.lstrip("-")`, `${1#--}`. */
const takesAnyFlag =
  /startsWith\(["']--?["']\)|startswith\(["']--?["']\)|\.slice\(2\)|\.replace\(\/\^-|lstrip\(["']-|\[2:\]|\$\{\w+#--\}|start_with\?\(["']--/u;
const notFlags = /^(?:-h|--help|--version|-V)$/u;
const mostFlags = 40;

function withFlags(tool: ScriptTool, calls: readonly ShownCall[], text: string): ScriptTool {
  const isOpen = takesAnyFlag.test(text);
  // Where the code goes over all words, its flags were taken for words.
  const swallowing = isOpen && !tool.mapping.parts.some(isFlag) ? tool.mapping.parts.find(isNamelessList) : undefined;
  const found = new Map<string, boolean>();
  for (const { words, read } of calls) {
    for (const word of swallowing === undefined ? read.unknownFlags : words) {
      const shown = readFlag(word, words);
      if (shown === undefined || !(stands(shown.flag, text) || (isOpen && shown.flag.startsWith("--")))) continue;
      found.set(shown.flag, shown.hasValue || found.get(shown.flag) === true);
    }
  }
  if (found.size === 0) return tool;
  const own = swallowing === undefined ? tool : withoutPart(tool, swallowing);
  const changed = [...found].slice(0, mostFlags).reduce(withFlag, own);
  const files = { ...findFileParameters({ ...changed, text }), ...tool.files };
  return { ...changed, ...(Object.keys(files).length > 0 && { files }) };
}

/** `--title=Leak`, and `--title Leak` where the next word is no flag. */
function readFlag(word: string, words: readonly string[]): { flag: string; hasValue: boolean } | undefined {
  const [, flag, joined] = /^(--?[A-Za-z][\w-]*)(?:=(.*))?$/su.exec(word) ?? [];
  if (flag === undefined || notFlags.test(flag)) return undefined;
  const next = words[words.indexOf(word) + 1];
  return { flag, hasValue: joined !== undefined || (next !== undefined && !/^--?[A-Za-z]/u.test(next)) };
}

function stands(flag: string, text: string): boolean {
  return new RegExp(`(?<![\\w-])${flag}(?![\\w-])`, "u").test(text);
}

function isFlag({ kind }: ArgvPart): boolean {
  return kind === "flag" || kind === "choice" || kind === "count";
}

function isNamelessList(part: ArgvPart): boolean {
  return part.kind === "positional" && part.many === true && part.property === "args";
}

function withoutPart(tool: ScriptTool, part: ArgvPart): ScriptTool {
  const { args: _, ...properties } = tool.inputSchema["properties"] as Record<string, JsonSchema>;
  const parts = tool.mapping.parts.filter((one) => one !== part);
  return { ...tool, inputSchema: { ...tool.inputSchema, properties }, mapping: { ...tool.mapping, parts } };
}

function withFlag(tool: ScriptTool, [flag, hasValue]: readonly [string, boolean]): ScriptTool {
  const property = toPropertyName(flag);
  const properties = isSchemaObject(tool.inputSchema["properties"]) ? tool.inputSchema["properties"] : {};
  if (property === "" || Object.hasOwn(properties, property)) return tool;
  const part: PropertyPart = hasValue
    ? ({ kind: "flag", property, flag } satisfies FlagPart)
    : { kind: "choice", property, words: { true: [flag] } };
  const schema = { type: hasValue ? "string" : "boolean" };
  const { parts } = tool.mapping;
  // With the other flags; after the words that are read by their place, if it is the first.
  const last = parts.findLastIndex(isFlag);
  const at = last === -1 ? parts.length : last + 1;
  return {
    ...tool,
    inputSchema: { ...tool.inputSchema, properties: { ...properties, [property]: schema } },
    mapping: { ...tool.mapping, parts: [...parts.slice(0, at), part, ...parts.slice(at)] },
  };
}

/** Whether an example that was found in a text can be one: it must fit the schema. */
export function fitsTool({ inputSchema }: ScriptTool, { input }: ReadArgv): boolean {
  return fitsOnce(inputSchema, input);
}
