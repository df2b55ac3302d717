import type { Problem } from "../errors.ts";
import type { JsonValue } from "../json.ts";
import { coerceInput, type Coercion } from "./coerce.ts";
import { createEngine, type SchemaEngine } from "./engine.ts";
import { findProblems } from "./find-problems.ts";
import { innerSchemas, isSchemaObject, type JsonSchema } from "./json-schema.ts";

/** What a check answers: the value, with defaults and lenient changes, or everything that is wrong. */
export type Checked =
  | { readonly ok: true; readonly value: JsonValue; readonly coerced: readonly Coercion[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

interface Validator {
  readonly engine: SchemaEngine;
  readonly hasDefaults: boolean;
}

/** A schema is made into code when it is first used, and never again. */
const validators = new WeakMap<JsonSchema, Validator>();

const noCoercions: readonly Coercion[] = [];

/** Checks `value`, which must be a copy of our own, leniently: defaults are filled in, and what models get wrong is put right. */
export function checkLeniently(schema: JsonSchema, value: JsonValue): Checked {
  const { engine, hasDefaults } = validatorOf(schema);
  if (!hasDefaults && engine.fits(schema, value)) return { ok: true, value, coerced: noCoercions };
  const changed = coerceInput(schema, value, engine);
  if (engine.fits(schema, changed.value)) return { ok: true, ...changed };
  return { ok: false, problems: findProblems(schema, changed.value, engine) };
}

/** Checks `value` to the letter. */
export function checkStrictly(schema: JsonSchema, value: JsonValue): readonly Problem[] {
  const { engine } = validatorOf(schema);
  return engine.fits(schema, value) ? [] : findProblems(schema, value, engine);
}

function validatorOf(schema: JsonSchema): Validator {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = { engine: createEngine(schema), hasDefaults: containsDefault(schema) };
    validators.set(schema, validator);
  }
  return validator;
}

function containsDefault(schema: unknown): boolean {
  if (!isSchemaObject(schema)) return false;
  return "default" in schema || innerSchemas(schema).some(([, inner]) => containsDefault(inner));
}
