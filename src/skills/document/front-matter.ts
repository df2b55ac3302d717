import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Position } from "./positions.ts";

/** A value of the front matter with its place. Offsets are relative to the first line below the opening `---`. */
export type FieldValue = ScalarValue | ListValue | MapValue;

/** A string, a number, a boolean or null. */
export interface ScalarValue {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  /** As written, without quotes: `1.0` stays `1.0`. */
  readonly text: string;
  readonly offset: number;
  readonly end: number;
}

/** A list. */
export interface ListValue {
  readonly kind: "list";
  readonly items: readonly FieldValue[];
  readonly offset: number;
  readonly end: number;
}

/** A map; no key occurs twice. */
export interface MapValue {
  readonly kind: "map";
  readonly fields: readonly Field[];
  readonly offset: number;
  readonly end: number;
}

/** A key with its value. */
export interface Field {
  readonly key: string;
  readonly offset: number;
  readonly value: FieldValue;
}

/** The front matter of a file, parsed. */
export interface FrontMatter {
  readonly block: string;
  readonly fields: readonly Field[];
  /** Where in the file an offset of the block is. */
  at(offset: number): Position;
}

/** Converts a value to JSON. Numbers that JSON cannot hold become the text that was written. */
export function toJson(value: FieldValue): JsonValue {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "number" && !isExact(value) ? value.text : value.value;
    case "list":
      return value.items.map(toJson);
    case "map":
      return toJsonObject(value.fields);
  }
}

/** Converts fields to a JSON object. */
export function toJsonObject(fields: readonly Field[]): JsonObject {
  return Object.fromEntries(fields.map(({ key, value }) => [key, toJson(value)]));
}

/** The text of a scalar, as written; nothing for an empty one, a list or a map. */
export function toText(value: FieldValue | undefined): string | undefined {
  if (value?.kind !== "scalar" || value.value === null) return undefined;
  const text = value.text.trim();
  return text === "" ? undefined : text;
}

function isExact({ value, text }: ScalarValue): boolean {
  return Number.isFinite(value) && (Number.isSafeInteger(value) || text.length < 16);
}
