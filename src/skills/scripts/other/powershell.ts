import type { Code } from "../code/code.ts";
import { readLiteral, toJson } from "../code/literals.ts";
import { findClosing, isToken, splitArguments, type Token } from "../code/token.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { toWord } from "../to-argv.ts";

/** Reads the `param()` block at the head of a PowerShell script. */
export function fromParamBlock({ tokens }: Code, text: string): DerivedInterface | undefined {
  const at = tokens.findIndex((token) => token.kind === "word" && token.text.toLowerCase() === "param");
  // A block after the first function belongs to that function.
  const before = tokens.findIndex((token) => token.kind === "word" && token.text.toLowerCase() === "function");
  if (at === -1 || !isToken(tokens[at + 1], "(") || (before !== -1 && before < at)) return undefined;
  const ranges = splitArguments(tokens, at + 1, findClosing(tokens, at + 1));
  const parameters = ranges
    .map((range) => toParameter(tokens, range, { help: readCommentHelp(text).parameters, text }))
    .filter((parameter) => parameter !== undefined);
  const isPlace = ({ part }: Parameter): boolean => part.kind === "positional";
  const ordered = [...parameters.filter((parameter) => !isPlace(parameter)), ...parameters.filter(isPlace)];
  return { commands: [{ parameters: ordered }], confidence: "declared", source: "param block" };
}

/** What stands in square brackets before the name: types and attributes. */
interface Attributes {
  type: string;
  mandatory: boolean;
  /** It gets all words that belong to no other parameter. */
  takesRest: boolean;
  choices?: readonly JsonValue[];
  minimum?: number;
  maximum?: number;
  help?: string;
  aliases: readonly string[];
}

function toParameter(
  tokens: readonly Token[],
  [from, to]: readonly [number, number],
  script: Script,
): Parameter | undefined {
  const attributes: Attributes = { type: "", mandatory: false, takesRest: false, aliases: [] };
  let index = from;
  while (index < to && isToken(tokens[index], "[")) {
    const close = findClosing(tokens, index);
    readAttribute(tokens, index + 1, close, attributes);
    index = close + 1;
  }
  const name = tokens[index]?.text ?? "";
  if (!name.startsWith("$")) return undefined;
  const fallback = isToken(tokens[index + 1], "=") ? readValue(tokens, index + 2, to) : undefined;
  return build(name.slice(1), attributes, { fallback: fallback ?? undefined, ...script });
}

/** A literal, or a list of them: `@("a", "b")`. */
function readValue(tokens: readonly Token[], from: number, to: number): JsonValue | undefined {
  const open = tokens[from]?.text === "@" ? from + 1 : from;
  if (open === from || !isToken(tokens[open], "(")) return toJson(readLiteral(tokens, [from, to]));
  const items = splitArguments(tokens, open, findClosing(tokens, open)).map((range) =>
    toJson(readLiteral(tokens, range)),
  );
  return items.every((item) => item !== undefined) ? items : undefined;
}

function readType(tokens: readonly Token[], from: number): string {
  const name = tokens[from]?.text.toLowerCase() ?? "";
  if (!isToken(tokens[from + 1], "[")) return name;
  if (isToken(tokens[from + 2], "]")) return `${name}[]`;
  // `[Nullable[int]]` is an int that may be left out.
  return name === "nullable" ? (tokens[from + 2]?.text.toLowerCase() ?? "") : "";
}

function readAttribute(tokens: readonly Token[], from: number, to: number, attributes: Attributes): void {
  const name = tokens[from]?.text.toLowerCase() ?? "";
  if (!isToken(tokens[from + 1], "(")) {
    attributes.type = readType(tokens, from);
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
    if (key === "valuefromremainingarguments" && value === true) attributes.takesRest = true;
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

/** What the rest of the script says about its parameters. */
interface Script {
  readonly help: ReadonlyMap<string, string>;
  readonly text: string;
}

interface Context extends Script {
  readonly fallback: JsonValue | undefined;
}

function build(name: string, attributes: Attributes, { fallback, help, text }: Context): Parameter {
  const flags = [`-${name}`, ...attributes.aliases];
  const type = attributes.type.replace("[]", "").replace(/^system\./u, "");
  const description = help.get(name.toLowerCase()) ?? attributes.help;
  const base = { flags, property: name, description, required: attributes.mandatory };
  if (type === "switch" || type.endsWith("switchparameter"))
    return switchFlag({ ...base, opposite: `-${name}:$false`, required: false });
  const isBoolean = type === "bool" || type === "boolean";
  const value = {
    type: isBoolean ? ("boolean" as const) : Object.hasOwn(numberTypes, type) ? numberTypes[type] : undefined,
    choices: attributes.choices,
    minimum: attributes.minimum,
    maximum: attributes.maximum,
    default: fallback,
  };
  if (attributes.takesRest) return positional({ ...base, ...value, name, many: true });
  const flag = {
    ...base,
    ...value,
    booleans: isBoolean ? (["$true", "$false"] as const) : undefined,
    joint: ":" as const,
    joined: isBoolean ? ("always" as const) : undefined,
  };
  return /\[\]$|^(?:array|object\[\])$/u.test(attributes.type) ? toList(flag, name, text) : valueFlag(flag);
}

/**
 * A script that is started with `-File` gets every word as it is, so `a,b` is one value and not two: PowerShell takes no list from
 * a command line. Only a script that parts the text itself can be given several.
 */
function toList(flag: FlagDeclaration, name: string, text: string): Parameter {
  const parts = new RegExp(String.raw`\$${name}(?:\[0\])?(?:\s+-split\b|\.split\()`, "iu");
  if (parts.test(text)) return valueFlag({ ...flag, many: "comma" });
  const note = "One value at most: PowerShell takes no list from a command line.";
  const description = flag.description === undefined ? note : `${flag.description} ${note}`;
  const isLonger = Array.isArray(flag.default) && flag.default.length > 1;
  return valueFlag({
    ...flag,
    many: "comma",
    maxItems: 1,
    description,
    default: isLonger ? undefined : flag.default,
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
