import { Check, Compile } from "typebox/schema";

import type { JsonSchema } from "./json-schema.ts";

/** What the engine says about one place where a value does not fit. */
export interface EngineError {
  readonly keyword: string;
  /** A JSON pointer into the schema, starting with `#`. */
  readonly schemaPath: string;
  /** A JSON pointer into the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A schema made into code. */
export interface CompiledSchema {
  fits(value: unknown): boolean;
  errors(value: unknown): readonly EngineError[];
}

/** Makes `schema` into code. Costs about a millisecond; do it once for each schema. */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const compiled = Compile(schema);
  return {
    fits: (value) => compiled.Check(value),
    errors: (value) => compiled.Errors(value)[1] as unknown as readonly EngineError[],
  };
}

/** Tells whether `value` fits, without making code of the schema: for a value that is checked once. */
export function fitsOnce(schema: JsonSchema, value: unknown): boolean {
  return Check(schema, value);
}
