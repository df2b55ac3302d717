import type { JsonValue } from "../../../core/json.ts";
import type { HelpTexts } from "../arguments/help-texts.ts";
import { textsOf, toJson, type Literal } from "../code/literals.ts";
import { findClosing, readRange, splitRange, type Range, type Scanned } from "../code/scan.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { pathByLabel } from "../facts/file-parameters.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";

/** Reads the `on` calls of Ruby's OptionParser. */
export function fromOptionParser(scanned: Scanned, help: HelpTexts): DerivedInterface | undefined {
  if (!/\bOptionParser\b/u.test(scanned.code)) return undefined;
  const starts = Array.from(scanned.code.matchAll(/\.on\b[ \t]*/gu), ({ index, 0: found }) => index + found.length);
  const flags = starts.flatMap((start, index) => {
    const [from, to] = rangeAt(scanned, start);
    const values = splitRange(scanned, [from, to]).map((range) => readRange(scanned, range));
    const block = scanned.code.slice(to, Math.min(starts[index + 1] ?? to + 200, to + 200));
    const parameter = toFlag(values, collects(block));
    return parameter === undefined ? [] : [parameter];
  });
  if (flags.length === 0) return undefined;
  const places = help.positionals([]);
  const rest = places.length > 0 ? places : [positional({ name: "args", many: true })];
  return {
    commands: [{ parameters: [...flags, ...(/\bARGV\b/u.test(scanned.code) ? rest : [])], separator: "needed" }],
    confidence: "declared",
    source: "OptionParser",
  };
}

/** Parentheses may be left out; the arguments then end with the line or with a block. */
function rangeAt(scanned: Scanned, start: number): Range {
  if (scanned.code.charAt(start) === "(") return [start + 1, findClosing(scanned, start)];
  const [line = ""] =
    /^(?:[^\n{]|,\s*\n)*?(?=\s*(?:\bdo\b|\{|\n|$))/u.exec(scanned.code.slice(start, start + 1000)) ?? [];
  return [start, start + line.length];
}

/** Whether the block after an option adds its value to a list: `{ |v| tags << v }`. */
function collects(block: string): boolean {
  return /^[^}]*?(?:<<|\bpush\b)/u.test(block.split(/\bend\b/u)[0] ?? "");
}

const numberTypes: Readonly<Record<string, "integer" | "number">> = {
  Integer: "integer",
  Numeric: "number",
  Float: "number",
  OptionParser: "integer",
};

function toFlag(values: readonly Literal[], isCollected: boolean): Parameter | undefined {
  const texts = values.flatMap((value) => textsOf(value.kind === "list" ? undefined : value));
  const notations = texts.filter((text) => text.startsWith("-"));
  const spellings = notations
    .map((text) => /^--?(?:\[no-\])?[A-Za-z][\w-]*/u.exec(text)?.[0] ?? "")
    .filter((text) => text !== "");
  if (spellings.length === 0 || spellings.some((flag) => flag === "--help" || flag === "--version")) return undefined;
  const flags = spellings
    .map((flag) => flag.replace("[no-]", ""))
    .toSorted((left, right) => right.length - left.length);
  const description = texts.filter((text) => !text.startsWith("-")).join(" ");
  const takesValue = notations.some((text) => /^--?\w[\w-]*[ =[]|^-[A-Za-z][A-Z]/u.test(text.replace("[no-]", "")));
  if (!takesValue) {
    const opposite = spellings.some((flag) => flag.includes("[no-]")) ? flags[0]?.replace("--", "--no-") : undefined;
    return switchFlag({ flags, opposite, description });
  }
  const list = values.find((value): value is Literal & { kind: "list" } => value.kind === "list");
  const type = values.map((value) => (value.kind === "name" ? value.name : "")).find((name) => name !== "") ?? "";
  const isOptional = notations.some((text) => /[ =]?\[[^\]]+\]$/u.test(text));
  return valueFlag({
    flags,
    description,
    type: Object.hasOwn(numberTypes, type) ? numberTypes[type] : undefined,
    choices: list?.items.map(toChoice).filter((choice) => choice !== undefined),
    many: type === "Array" ? "comma" : isCollected ? "repeat" : undefined,
    joint: flags[0]?.startsWith("--") ? "=" : "",
    alone: isOptional ? true : undefined,
    file: pathByLabel(notations.find((notation) => pathByLabel(notation))),
  });
}

/** A text, or a symbol such as `:binary`. */
function toChoice(item: Literal): JsonValue | undefined {
  return item.kind === "name" && item.name.startsWith(":") ? item.name.slice(1) : toJson(item);
}
