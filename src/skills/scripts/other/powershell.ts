import type { Code } from "../code/code.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { findClosing, isToken, splitArguments, type Token } from "../code/token.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { toWord } from "../to-argv.ts";

/** Reads the `param()` block at the head of a PowerShell script. */
export function fromParamBlock(code: Code, help: ReadonlyMap<string, string>): DerivedInterface | undefined {
  const { tokens } = code;
  const at = tokens.findIndex((token) => token.kind === "word" && token.text.toLowerCase() === "param");
  // A block after the first function belongs to that function.
  const before = tokens.findIndex((token) => token.kind === "word" && token.text.toLowerCase() === "function");
  if (at === -1 || !isToken(tokens[at + 1], "(") || (before !== -1 && before < at)) return undefined;
  const ranges = splitArguments(tokens, at + 1, findClosing(tokens, at + 1));
  const parameters = ranges
    .map((range) => toParameter(tokens, range, help))
    .filter((parameter) => parameter !== undefined);
  return { commands: [{ parameters }], confidence: "declared", source: "param block" };
}

/** What stands in square brackets before the name: types and attributes. */
interface Attributes {
  type: string;
  mandatory: boolean;
  choices?: readonly JsonValue[];
  minimum?: number;
  maximum?: number;
  help?: string;
  aliases: readonly string[];
}

function toParameter(
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
  help: ReadonlyMap<string, string>,
): Parameter | undefined {
  const attributes: Attributes = { type: "", mandatory: false, aliases: [] };
  let index = from;
  while (index < to && isToken(tokens[index], "[")) {
    const close = findClosing(tokens, index);
    readAttribute(tokens, index + 1, close, attributes);
    index = close + 1;
  }
  const name = tokens[index]?.text ?? "";
  if (!name.startsWith("$")) return undefined;
  const fallback = isToken(tokens[index + 1], "=") ? toJson(readLiteral(tokens, [index + 2, to])) : undefined;
  return build(name.slice(1), attributes, { fallback: fallback ?? undefined, help });
}

function readAttribute(tokens: readonly Token[], from: number, to: number, attributes: Attributes): void {
  const name = tokens[from]?.text.toLowerCase() ?? "";
  if (!isToken(tokens[from + 1], "(")) {
    attributes.type = name + (isToken(tokens[from + 1], "[") ? "[]" : "");
    return;
  }
  const ranges = splitArguments(tokens, from + 1, to - 1);
  const values = ranges.map((range) => toJson(readLiteral(tokens, range)));
  const known = values.filter((value) => value !== undefined);
  if (name === "parameter") readParameterAttribute(tokens, ranges, attributes);
  else if (name === "validateset") attributes.choices = known;
  else if (name === "alias") attributes.aliases = known.map((alias) => `-${toWord(alias)}`);
  else if (name === "validaterange" && typeof values[0] === "number" && typeof values[1] === "number") {
    attributes.minimum = values[0];
    attributes.maximum = values[1];
  }
}

/** `[Parameter(Mandatory=$true, HelpMessage="…")]`; a bare `Mandatory` is true. */
function readParameterAttribute(
  tokens: readonly Token[],
  ranges: readonly (readonly [number, number])[],
  attributes: Attributes,
): void {
  for (const [from, to] of ranges) {
    const key = tokens[from]?.text.toLowerCase();
    const value = isToken(tokens[from + 1], "=") ? toJson(readLiteral(tokens, [from + 2, to])) : true;
    if (key === "mandatory" && value === true) attributes.mandatory = true;
    if (key === "helpmessage" && typeof value === "string") attributes.help = value;
  }
}

const numberTypes: Readonly<Record<string, "integer" | "number">> = {
  int: "integer",
  int32: "integer",
  int64: "integer",
  long: "integer",
  uint32: "integer",
  double: "number",
  float: "number",
  decimal: "number",
  single: "number",
};

interface Context {
  readonly fallback: JsonValue | undefined;
  readonly help: ReadonlyMap<string, string>;
}

function build(name: string, attributes: Attributes, { fallback, help }: Context): Parameter {
  const flags = [`-${name}`, ...attributes.aliases];
  const type = attributes.type.replace("[]", "").replace(/^system\./u, "");
  const description = help.get(name.toLowerCase()) ?? attributes.help;
  const base = { flags, property: name, description, required: attributes.mandatory };
  if (type === "switch" || type.endsWith("switchparameter"))
    return switchFlag({ ...base, opposite: `-${name}:$false`, required: false });
  const isBoolean = type === "bool" || type === "boolean";
  return valueFlag({
    ...base,
    type: isBoolean ? "boolean" : Object.hasOwn(numberTypes, type) ? numberTypes[type] : undefined,
    booleans: isBoolean ? ["$true", "$false"] : undefined,
    choices: attributes.choices,
    minimum: attributes.minimum,
    maximum: attributes.maximum,
    default: fallback,
    many: attributes.type.endsWith("[]") ? "comma" : undefined,
    joint: ":",
    joined: isBoolean ? "always" : undefined,
  });
}

/** Reads the comment-based help: `.SYNOPSIS`, `.PARAMETER Name` and what follows them. */
export function readCommentHelp(text: string): { parameters: ReadonlyMap<string, string>; description: string } {
  const sections = new Map<string, string>();
  let current: string | undefined;
  for (const line of text.split("\n", 5000)) {
    const [, key, name = ""] = /^\s*#?\s*\.([A-Z]+)[ \t]*(\w*)\s*$/u.exec(line.slice(0, 200)) ?? [];
    if (key !== undefined) {
      current = `${key} ${name.toLowerCase()}`.trim();
      sections.set(current, "");
    } else if (line.includes("#>")) {
      current = undefined;
    } else if (current !== undefined) {
      sections.set(current, `${sections.get(current) ?? ""} ${line.replace(/^\s*#?\s*/u, "")}`.trim());
    }
  }
  const parameters = [...sections]
    .filter(([key]) => key.startsWith("PARAMETER "))
    .map(([key, words]) => [key.slice(10), words] as const);
  return {
    parameters: new Map(parameters),
    description: sections.get("SYNOPSIS") || sections.get("DESCRIPTION") || "",
  };
}
