import { pathByLabel } from "../facts/file-parameters.ts";
import { toPropertyName, type Parameter } from "../parameter.ts";
import type { UsagePositional } from "../usage/synopsis.ts";
import { readDescription, type NamedRow } from "../usage/tables.ts";
import { toValueSchema, typeOfLabel, typeOfNumber, type ValueFacts } from "../value-schema.ts";
import { withoutUndefined } from "../without-undefined.ts";
import type { ArgvFacts, PositionFact } from "./argv-facts.ts";

/** What is known about the positionals of one command. */
export interface PositionalSources {
  /** The positionals of each usage line. */
  readonly lines: readonly (readonly UsagePositional[])[];
  readonly facts: ArgvFacts;
  /** The table of arguments in the help text. */
  readonly rows: readonly NamedRow[];
}

/** What is known about one positional. */
interface Merged {
  readonly usage: UsagePositional | undefined;
  readonly code: PositionFact | undefined;
  readonly required: boolean;
  readonly many: boolean;
  readonly index: number;
}

/** Joins what usage lines and code say about the positionals of a command. */
export function mergePositionals({ lines, facts, rows }: PositionalSources): Parameter[] {
  const written = Math.max(0, ...lines.map((line) => line.length));
  const read = Math.max(0, ...[...facts.positions.keys()].map((place) => place + 1));
  const rest = facts.rest;
  // A usage line that ends in "…" already covers all that follows.
  const endsOpen = lines.some((line) => line.at(-1)?.many);
  const codeCount = Math.max(read, rest === undefined ? 0 : rest.from + 1);
  const count = Math.min(endsOpen ? written : Math.max(written, written > 0 ? read : codeCount), mostPositionals);
  const merged = Array.from({ length: count }, (_, index) => mergeAt(index, lines, facts));
  return merged.map((item) => toParameter(item, rows));
}

const mostPositionals = 30;

function mergeAt(index: number, lines: PositionalSources["lines"], facts: ArgvFacts): Merged {
  const here = lines.map((line) => line[index]);
  const usage = here.find((item) => item !== undefined && !item.bare) ?? here.find((item) => item !== undefined);
  const code = facts.positions.get(index) ?? restFact(facts, index);
  const many = here.some((item) => item?.many) || (usage === undefined && facts.rest?.from === index);
  return { usage, code, many, index, required: isRequired(here, { index, facts, many }) };
}

function restFact({ rest }: ArgvFacts, index: number): PositionFact | undefined {
  const isNamed =
    rest?.from === index && rest.name !== undefined && !/^(?:rest|args|others|remaining|_)$/iu.test(rest.name);
  return isNamed ? { name: rest.name } : undefined;
}

interface Place {
  readonly index: number;
  readonly facts: ArgvFacts;
  readonly many: boolean;
}

function isRequired(here: readonly (UsagePositional | undefined)[], { index, facts, many }: Place): boolean {
  const code = facts.positions.get(index);
  if (code?.default !== undefined) return false;
  const isInMinimum = facts.minimum !== undefined && index < facts.minimum;
  if (here.some((item) => item !== undefined)) {
    const byUsage = here.every((item) => item?.required === true);
    return byUsage || (code?.required === true && isInMinimum);
  }
  if (facts.minimum !== undefined) return isInMinimum;
  return code?.required === true && !many;
}

function toParameter(merged: Merged, rows: readonly NamedRow[]): Parameter {
  const { usage, required, many } = merged;
  const property = toName(merged);
  const row = rows.find(({ head }) => isSameName(head, usage?.label, property));
  const schema = toValueSchema({
    ...toFacts(merged, row?.description ?? ""),
    many,
    description:
      row?.description ??
      merged.code?.description ??
      (isListOfChoices(usage, merged.code) ? undefined : labelAsText(usage, property)),
    minItems: many && required ? 1 : undefined,
  });
  const fill = schema["default"];
  const part = withoutUndefined<Parameter["part"]>({
    kind: "positional",
    property,
    many: many ? true : undefined,
    fill: typeof fill === "string" || typeof fill === "number" ? String(fill) : undefined,
  });
  return { part, schema, required, file: pathByLabel(usage?.label) };
}

function toFacts({ usage, code, many }: Merged, description: string): ValueFacts {
  const described = readDescription(description);
  const value = many ? undefined : (code?.default ?? described.default);
  const choices = usage?.choices ?? code?.choices ?? described.choices;
  if (choices !== undefined) return { choices, default: value };
  const type = code?.type ?? (usage ? typeOfLabel(usage.label) : undefined) ?? typeOfNumber(value);
  return { type, default: value };
}

/** Whether a row of a table is about this parameter: `<input>`, `$1`, `input_file`. */
function isSameName(head: string, label: string | undefined, property: string): boolean {
  const [first = ""] = head.split(/[\s(]/u);
  const name = toPropertyName(first).toLowerCase();
  return (
    name !== "" &&
    (name === property.toLowerCase() || (label !== undefined && name === toPropertyName(label).toLowerCase()))
  );
}

/** A label that says more than its name: another alphabet, or alternatives. */
function labelAsText(usage: UsagePositional | undefined, property: string): string | undefined {
  if (usage === undefined || usage.choices !== undefined || /["'{}]|^\d+$/u.test(usage.label)) return undefined;
  const isPlain =
    toPropertyName(usage.label).toLowerCase() === property.toLowerCase() && /^[\w.-]+$/u.test(usage.label);
  return isPlain ? undefined : usage.label;
}

/** A label that is a name and not a sample: `input_file`, but not `ABC-123`, `2024-01-01` or `YYYY-MM-DD`. */
const nameLabel = /^[A-Za-z][A-Za-z_ .-]*\d?$/u;
const sampleLabel = /^(?:[A-Z]+-\d+|Y{2,4}-M{2}(?:-D{2})?|https?:.*|\d.*)$/u;

function toName({ usage, code, many, index }: Merged): string {
  const fromCode = toPropertyName(lowerCase(code?.name ?? ""));
  if (isListOfChoices(usage, code)) return fromCode || "command";
  const fromUsage = usage === undefined ? "" : toUsageName(usage, fromCode);
  return fromUsage || fromCode || (many ? "args" : `arg${index + 1}`);
}

/** `[start|stop]`: the label is all that it can be, and no name. */
function isListOfChoices(usage: UsagePositional | undefined, code: PositionFact | undefined): boolean {
  const words = usage?.label.split(/[\s|,/]+|\bor\b/u).filter((word) => word !== "") ?? [];
  return words.length > 1 && words.every((word) => code?.choices?.includes(word) === true);
}

/** The name that a usage line gives, unless the code's is better. */
function toUsageName({ label: written, bare, choices }: UsagePositional, fromCode: string): string {
  if (choices !== undefined && (choices.includes(written) || !/^<?\w+$/u.test(written))) return fromCode || "command";
  // A bare word in a usage line is a sample; the variable says what it is one of.
  if (bare && fromCode !== "") return fromCode;
  // `input.pdf`, `path/to/data.csv`: the name without its ending.
  const label = written.replace(/(?<=\w)\.\w{1,5}$/u, "").replace(/^.*\//u, "");
  if (isNameLabel(label)) return toPropertyName(lowerCase(label));
  return fromCode || fromSample(label);
}

function fromSample(label: string): string {
  if (/^https?:/u.test(label)) return "url";
  if (/^\d+$/u.test(label)) return "";
  return label.includes(" ") ? "" : toPropertyName(lowerCase(label));
}

function isNameLabel(label: string): boolean {
  if (!nameLabel.test(label) || sampleLabel.test(label) || label.length > 40) return false;
  // Words of different cases are a sample: `FROM logs`, `Fix the bug`.
  return !label.includes(" ") || label === label.toLowerCase() || label === label.toUpperCase();
}

/** `INPUT_FILE` → `input_file`; `tmdbId` stays. */
function lowerCase(label: string): string {
  return /[a-z]/u.test(label) ? label : label.toLowerCase();
}
