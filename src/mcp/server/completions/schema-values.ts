import { isSchemaObject, followReferences, type JsonSchema } from "../../../core/schema/json-schema.ts";
import type { Tool } from "../../../core/tool.ts";

/** What a schema says of one argument of a tool. */
export interface ArgumentFacts {
  /** Values that the schema and the examples name. */
  readonly values: readonly string[];
  readonly isPath: boolean;
  /** Values of it are shown to nobody. */
  readonly isSecret: boolean;
}

const secretFormats: ReadonlySet<unknown> = new Set(["password", "secret"]);
const pathFormats: ReadonlySet<unknown> = new Set(["path", "file-path", "directory-path"]);
const pathWords = /(?:^|[_.-])(?:paths?|files?|filename|dir|directory|folder)(?:$|[_.-])/iu;
const secretWords = /pass(?:word|phrase|wd)?|secret|token|credential|api[_-]?key|private[_-]?key|authorization/iu;

/** Reads what is known of an argument; `undefined` if the tool has none of this name. */
export function readArgument(tool: Tool, argument: string): ArgumentFacts | undefined {
  const { inputSchema } = tool;
  const properties = inputSchema["properties"];
  if (!isSchemaObject(properties) || !Object.hasOwn(properties, argument)) return undefined;
  const schema = followReferences(inputSchema, properties[argument]);
  if (!isSchemaObject(schema)) return { values: [], isPath: false, isSecret: secretWords.test(argument) };
  const isSecret = secretWords.test(argument) || schema["writeOnly"] === true || secretFormats.has(schema["format"]);
  const own = findValues(inputSchema, schema, 0);
  const examples = tool.examples.map(({ input }) => (Object.hasOwn(input, argument) ? input[argument] : undefined));
  return {
    values: isSecret ? [] : [...own, ...examples, schema["default"]].flatMap(toText),
    isPath: schema["type"] === "string" && (pathFormats.has(schema["format"]) || pathWords.test(toWords(argument))),
    isSecret,
  };
}

/** `inputFile` has the words of `input-file`. */
function toWords(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, "-");
}

const deepest = 4;

/** The values that a schema lists, in its choices and in the items of a list too. */
function findValues(root: JsonSchema, given: unknown, depth: number): readonly unknown[] {
  const schema = followReferences(root, given);
  if (!isSchemaObject(schema) || depth > deepest) return [];
  const { type } = schema as { readonly type?: unknown };
  const choices = ["anyOf", "oneOf", "allOf"].flatMap((key) => (Array.isArray(schema[key]) ? schema[key] : []));
  return [
    ...(Array.isArray(schema["enum"]) ? schema["enum"] : []),
    ...("const" in schema ? [schema["const"]] : []),
    ...(type === "boolean" ? [true, false] : []),
    ...choices.flatMap((choice) => findValues(root, choice, depth + 1)),
    ...findValues(root, schema["items"], depth + 1),
    ...(Array.isArray(schema["examples"]) ? schema["examples"] : []),
  ];
}

const longestValue = 200;

/** A value as it is typed; nothing for what nobody types. */
export function toText(value: unknown): readonly string[] {
  const isTyped = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  const text = isTyped ? String(value) : "";
  return text !== "" && text.length <= longestValue ? [text] : [];
}
