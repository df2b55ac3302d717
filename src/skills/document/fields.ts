import { quote } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { toJsonObject, type Field, type FieldValue, type FrontMatter } from "./front-matter.ts";
import type { Position } from "./positions.ts";
import type { Reporter } from "./reporter.ts";

/** The keys of the specification. */
export const specKeys = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"] as const;

/** Keys of other clients that are understood here too. */
export const otherKeys = [
  "argument-hint",
  "arguments",
  "disable-model-invocation",
  "tools",
  "user-invocable",
  "version",
  "when_to_use",
] as const;

/** A key that is understood. */
export type KnownKey = (typeof specKeys)[number] | (typeof otherKeys)[number];

/** The top level of a front matter, for those who read one field each. */
export interface Fields {
  get(key: KnownKey): Field | undefined;
  /** Where a value stands. */
  at(value: FieldValue): Position;
  /** A value as it is written, on one line. */
  source(value: FieldValue): string;
  /** Everything that the specification does not have, as written. */
  readonly extra: JsonObject;
}

/** Makes fields of a front matter; reports keys that are misspelled or, to the letter, unknown. */
export function createFields(frontMatter: FrontMatter, reporter: Reporter): Fields {
  const { block, fields, at } = frontMatter;
  const byKey = new Map<string, Field>(fields.map((field) => [field.key, field]));
  const rest: Field[] = [];
  for (const field of fields) {
    if (isSpecKey(field.key)) continue;
    const meant = isKnown(field.key) ? undefined : findMeant(field.key, byKey);
    if (meant !== undefined) {
      byKey.set(meant, field);
      const message = `The key ${quote(field.key)} is read as ${quote(meant)}`;
      reporter.report("key-misspelled", message, at(field.offset), `Write: ${meant}:`);
    } else if (reporter.spec) {
      const message = `The key ${quote(field.key)} is not one of ${specKeys.join(", ")}`;
      reporter.report("key-unknown", message, at(field.offset), "Move it under metadata");
    }
    if (meant === undefined || !isSpecKey(meant)) rest.push(field);
  }
  return {
    get: (key) => byKey.get(key),
    at: (value) => at(value.offset),
    source: (value) => block.slice(value.offset, value.end).replaceAll(/\s+/gu, " ").trim(),
    extra: toJsonObject(rest),
  };
}

const known = new Set<string>([...specKeys, ...otherKeys]);
const specSet = new Set<string>(specKeys);
const byFolded = new Map(Array.from(known, (key) => [fold(key), key]));

function isKnown(key: string): boolean {
  return known.has(key);
}

function isSpecKey(key: string): boolean {
  return specSet.has(key);
}

function fold(key: string): string {
  return key.toLowerCase().replaceAll(/[\s_-]/gu, "");
}

/** The known key that is meant by another spelling, if it is not there itself. Only the description is worth guessing at. */
function findMeant(key: string, present: ReadonlyMap<string, Field>): string | undefined {
  const same = byFolded.get(fold(key));
  if (same !== undefined) return present.has(same) ? undefined : same;
  if (present.has("description") || !key.toLowerCase().startsWith("desc")) return undefined;
  return nearestNames(key, ["description"])[0];
}
