import { Check, Compile } from "typebox/schema";

import { linkSchema } from "./link-schema.ts";
import { isSchemaObject, type JsonSchema } from "./json-schema.ts";

/** Holds values against the schemas inside one schema. */
export interface SchemaEngine {
  /**
   * Tells whether `value` fits `schema`, which is the root or a schema inside it. Never throws; takes time in proportion to the
   * sizes of both, also when a schema refers to itself.
   */
  fits(schema: unknown, value: unknown): boolean;
}

type Fits = (value: unknown) => boolean;

/** Makes an engine for `root`. Each schema is made into code at its first use, which costs about a millisecond. */
export function createEngine(root: JsonSchema): SchemaEngine {
  const slow = createSlowEngine(root);
  // A schema with thousands of properties is more than can be made into code.
  return createEngineWith(root, (linked) => toCode(linked) ?? interpret(linked), slow.fits);
}

/** Makes an engine that makes no code: for values that are checked once. */
export function createSlowEngine(root: JsonSchema): SchemaEngine {
  // A text of many megabytes is more than some patterns can hold.
  return createEngineWith(root, interpret, () => false);
}

function toCode(linked: JsonSchema): Fits | undefined {
  try {
    const compiled = Compile(linked);
    return (value) => compiled.Check(value);
  } catch {
    return undefined;
  }
}

function interpret(linked: JsonSchema): Fits {
  return (value) => Check(linked, value);
}

/** Tells whether `value` fits, without making code of the schema: for a value that is checked once. */
export function fitsOnce(schema: JsonSchema, value: unknown): boolean {
  return createSlowEngine(schema).fits(schema, value);
}

/** Makes an engine. `fitsOtherwise` is asked when the stack was not large enough for a schema or a value. */
function createEngineWith(
  root: JsonSchema,
  prepare: (linked: JsonSchema) => Fits,
  fitsOtherwise: SchemaEngine["fits"],
): SchemaEngine {
  const prepared = new Map<JsonSchema, Fits>();
  /** What is known about this check's values. Without it, a schema that refers to itself twice is asked 2, 4, 8, … times. */
  let known = new Map<JsonSchema, Map<unknown, boolean>>();

  function prepareOnce(schema: JsonSchema): Fits {
    let fits = prepared.get(schema);
    if (fits === undefined) {
      fits = prepare(linkSchema(root, schema, fitsTarget));
      prepared.set(schema, fits);
    }
    return fits;
  }

  function fitsTarget(target: unknown, value: unknown): boolean {
    if (!isSchemaObject(target)) return target === true;
    let answers = known.get(target);
    if (answers === undefined) {
      answers = new Map();
      known.set(target, answers);
    }
    const answer = answers.get(value) ?? prepareOnce(target)(value);
    answers.set(value, answer);
    return answer;
  }

  return {
    fits(schema, value) {
      if (!isSchemaObject(schema)) return schema !== false;
      try {
        return prepareOnce(schema)(value);
      } catch (cause) {
        if (cause instanceof RangeError) return fitsOtherwise(schema, value);
        throw cause;
      } finally {
        // Another map: the tables of one that is cleared hold what was in them until the old generation is collected.
        if (known.size > 0) known = new Map();
      }
    },
  };
}
