import type { JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { DeclaredPath } from "./facts/file-parameters.ts";
import { withoutUndefined } from "./without-undefined.ts";

/** What is known about a single value. */
export interface ValueFacts {
  readonly type?: "string" | "integer" | "number" | "boolean" | undefined;
  readonly choices?: readonly JsonValue[] | undefined;
  readonly default?: JsonValue | undefined;
  readonly description?: string | undefined;
  /** It is a list of such values. */
  readonly many?: boolean | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  /** The declaration says that it names a file or a folder. */
  readonly file?: DeclaredPath | undefined;
}

/** The longest description of a parameter that is kept. */
const longestDescription = 1000;

/** A schema can hold many choices, but a model cannot use them. */
const mostChoices = 500;

/** Writes what is known about a value as a JSON Schema. A default that does not fit is left out: it would make every call fail. */
export function toValueSchema(facts: ValueFacts): JsonSchema {
  const choices = facts.choices !== undefined && isUsable(facts.choices) ? [...new Set(facts.choices)] : undefined;
  const type = facts.type ?? (choices === undefined ? "string" : typeOfAll(choices));
  const single = withoutUndefined<JsonSchema>({ type, enum: choices, minimum: facts.minimum, maximum: facts.maximum });
  const schema = facts.many
    ? { type: "array", items: single, minItems: facts.minItems, maxItems: facts.maxItems }
    : single;
  return withoutUndefined<JsonSchema>({
    ...schema,
    description: toDescription(facts.description),
    default: toDefault(facts.default, { type, choices, many: facts.many, minItems: facts.minItems }),
  });
}

function isUsable(choices: readonly JsonValue[]): boolean {
  return choices.length > 0 && choices.length <= mostChoices;
}

function toDescription(text = ""): string | undefined {
  const description = text.replaceAll(/\s+/gu, " ").trim().slice(0, longestDescription);
  return description === "" ? undefined : description;
}

function typeOfAll(choices: readonly JsonValue[]): ValueFacts["type"] {
  if (choices.every((choice) => typeof choice === "string")) return "string";
  if (choices.every((choice) => Number.isInteger(choice))) return "integer";
  return choices.every((choice) => typeof choice === "number") ? "number" : undefined;
}

function toDefault(value: JsonValue | undefined, facts: ValueFacts): JsonValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (!facts.many) return toSingleDefault(value, facts);
  if (!Array.isArray(value) || value.length < (facts.minItems ?? 0)) return undefined;
  const items = (value as readonly JsonValue[]).map((item) => toSingleDefault(item, facts));
  return items.every((item) => item !== undefined) ? items : undefined;
}

function toSingleDefault(value: JsonValue, { type, choices }: ValueFacts): JsonValue | undefined {
  const fitting = type === "string" && typeof value === "number" ? String(value) : value;
  if (choices !== undefined && !choices.includes(fitting)) return undefined;
  if (type === undefined) return fitting;
  const fits = type === "integer" ? Number.isInteger(fitting) : typeof fitting === type;
  return fits ? fitting : undefined;
}

/** Labels by which a usage line says that a value is a whole number. */
const integerLabel = /^(?:n|num|int|integer|count|port)$/iu;

/** The type that the label of a placeholder gives away. */
export function typeOfLabel(label: string): "integer" | undefined {
  return integerLabel.test(label) ? "integer" : undefined;
}

/** The type that a default gives away. */
export function typeOfNumber(value: JsonValue | undefined): "integer" | "number" | undefined {
  if (typeof value !== "number") return undefined;
  return Number.isInteger(value) ? "integer" : "number";
}
