import type { JsonValue } from "../../../core/json.ts";
import { callAt } from "../code/calls.ts";
import type { Code } from "../code/code.ts";
import { readLiteral, textsOf, toJson, type Literal } from "../code/literals.ts";
import { findClosing, isAnyToken, isToken, splitArguments } from "../code/token.ts";
import type { DerivedInterface } from "../derived-interface.ts";
import { positional, switchFlag, valueFlag } from "../flag-parameter.ts";
import type { Parameter } from "../parameter.ts";
import type { HelpTexts } from "../hand/help-texts.ts";

/** Reads the `on` calls of Ruby's OptionParser. */
export function fromOptionParser(code: Code, help: HelpTexts): DerivedInterface | undefined {
  if (!code.tokens.some((token) => isToken(token, "OptionParser"))) return undefined;
  const flags: Parameter[] = [];
  for (const [index, token] of code.tokens.entries()) {
    if (!isToken(token, "on") || !isToken(code.tokens[index - 1], ".")) continue;
    const ranges = rangesAt(code, index);
    const parameter = toFlag(code, ranges, collects(code, ranges.at(-1)?.[1] ?? index));
    if (parameter !== undefined) flags.push(parameter);
  }
  if (flags.length === 0) return undefined;
  const readsMore = code.tokens.some((token) => isToken(token, "ARGV"));
  return {
    commands: [{ parameters: [...flags, ...(readsMore ? placesOf(code, help) : [])], separator: "needed" }],
    confidence: "declared",
    source: "OptionParser",
  };
}

/** Parentheses may be left out; the arguments then end with the line or with a block. */
function rangesAt(code: Code, index: number): readonly (readonly [number, number])[] {
  const call = callAt(code, index);
  if (call !== undefined) return call.ranges;
  const { tokens } = code;
  let end = index + 1;
  while (end < tokens.length && end - index < 60 && !isAnyToken(tokens[end], blockStarts)) {
    if (tokens[end]?.line !== tokens[end - 1]?.line && !isToken(tokens[end - 1], ",") && end > index + 1) break;
    if (isToken(tokens[end], "[")) end = findClosing(tokens, end);
    end += 1;
  }
  return splitArguments(tokens, index, end);
}

/** Whether the block after an option adds its value to a list: `{ |v| tags << v }`. */
function collects({ tokens }: Code, end: number): boolean {
  for (let index = end; index < end + 24; index++) {
    if (isToken(tokens[index], "on") && isToken(tokens[index - 1], ".")) return false;
    const isAdded = isToken(tokens[index], "<") && isToken(tokens[index + 1], "<");
    if (isAdded || isToken(tokens[index], "push")) return true;
    if (isToken(tokens[index], "}") || isToken(tokens[index], "end")) return false;
  }
  return false;
}

const blockStarts = new Set(["do", "{"]);
const numberTypes: Readonly<Record<string, "integer" | "number">> = {
  Integer: "integer",
  Numeric: "number",
  Float: "number",
  OptionParser: "integer",
};

function toFlag(
  code: Code,
  ranges: readonly (readonly [number, number])[],
  isCollected: boolean,
): Parameter | undefined {
  const values = ranges.map((range) => readLiteral(code.tokens, range, code.constants));
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
  });
}

/** A text, or a symbol such as `:binary`. */
function toChoice(item: Literal): JsonValue | undefined {
  return item.kind === "name" && item.name.startsWith(":") ? item.name.slice(1) : toJson(item);
}

function placesOf(_code: Code, help: HelpTexts): readonly Parameter[] {
  const places = help.positionals([]);
  return places.length > 0 ? places : [positional({ name: "args", many: true })];
}
