import type { JsonValue } from "../../../core/json.ts";
import { toJson } from "../code/literals.ts";
import { findClosing, readRange, splitRange, type Range, type Scanned } from "../code/scan.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag, type FlagDeclaration } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import { toWord } from "../to-argv.ts";

/** Reads the `param()` block at the head of a PowerShell script. */
export function fromParamBlock(scanned: Scanned): DerivedInterface | undefined {
  const { code, text } = scanned;
  const found = /\b(?:param\s*\(|function\b)/iu.exec(code);
  // A block after the first function belongs to that function.
  if (found === null || !found[0].endsWith("(")) return undefined;
  const open = found.index + found[0].length - 1;
  const help = readCommentHelp(text).parameters;
  const parameters = splitRange(scanned, [open + 1, findClosing(scanned, open)])
    .map((range) => toParameter(scanned, range, { help, text }))
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

function toParameter(scanned: Scanned, [from, to]: Range, script: Script): Parameter | undefined {
  const attributes: Attributes = { type: "", mandatory: false, takesRest: false, aliases: [] };
  let at = from;
  for (; at < to && scanned.code.charAt(at) === "["; at += scanned.code.slice(at, to).search(/\S|$/u)) {
    const close = findClosing(scanned, at);
    readAttribute(scanned, [at + 1, close], attributes);
    at = close + 1;
  }
  const [whole, name] = /^\$(\w+)\s*/u.exec(scanned.code.slice(at, to)) ?? [];
  if (whole === undefined || name === undefined) return undefined;
  const equals = at + whole.length;
  const fallback = scanned.code.charAt(equals) === "=" ? toJson(readRange(scanned, [equals + 1, to])) : undefined;
  return build(name, attributes, { fallback: fallback ?? undefined, ...script });
}

/** `int`, `string[]`; `Nullable[int]` is an int that may be left out. */
function toType(written: string): string {
  return /^nullable\[(\w+)\]$/u.exec(written)?.[1] ?? written.replace(/\[(?!\]).*$/u, "");
}

function readAttribute(scanned: Scanned, [from, to]: Range, attributes: Attributes): void {
  const [whole = "", name = "", open] = /^([\w.]+)\s*(\()?/u.exec(scanned.code.slice(from, to)) ?? [];
  if (open === undefined) {
    attributes.type = toType(scanned.code.slice(from, to).trim().toLowerCase());
    return;
  }
  const ranges = splitRange(scanned, [from + whole.length, to - 1]);
  const values = ranges.map((range) => toJson(readRange(scanned, range)));
  const known = values.filter((value) => value !== undefined);
  const attribute = name.toLowerCase();
  if (attribute === "parameter") readParameterAttribute(scanned, ranges, attributes);
  else if (attribute === "validateset") attributes.choices = known;
  else if (attribute === "alias") attributes.aliases = known.map((alias) => `-${toWord(alias)}`);
  else if (attribute === "validaterange" && typeof values[0] === "number" && typeof values[1] === "number") {
    attributes.minimum = values[0];
    attributes.maximum = values[1];
  }
}

/** `[Parameter(Mandatory=$true, HelpMessage="…")]`; a bare `Mandatory` is true. */
function readParameterAttribute(scanned: Scanned, ranges: readonly Range[], attributes: Attributes): void {
  for (const [from, to] of ranges) {
    const [whole = "", name = "", equals] = /^(\w+)\s*(=)?/u.exec(scanned.code.slice(from, to)) ?? [];
    const key = name.toLowerCase();
    const value = equals === undefined ? true : toJson(readRange(scanned, [from + whole.length, to]));
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
