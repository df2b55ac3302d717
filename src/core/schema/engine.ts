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
  return createEngineWith(root, (linked) => {
    const compiled = Compile(linked);
    return (value) => compiled.Check(value);
  });
}

/** Makes an engine that makes no code: for values that are checked once. */
export function createSlowEngine(root: JsonSchema): SchemaEngine {
  return createEngineWith(root, (linked) => (value) => Check(linked, value));
}

/** Tells whether `value` fits, without making code of the schema: for a value that is checked once. */
export function fitsOnce(schema: JsonSchema, value: unknown): boolean {
  return createSlowEngine(schema).fits(schema, value);
}

function createEngineWith(root: JsonSchema, prepare: (linked: JsonSchema) => Fits): SchemaEngine {
  const prepared = new Map<JsonSchema, Fits>();
  /** What is known about this check's values. Without it, a schema that refers to itself twice is asked 2, 4, 8, … times. */
  const known = new Map<JsonSchema, Map<unknown, boolean>>();

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
        // A text of many megabytes is more than some patterns can hold; nothing else is thrown.
        if (cause instanceof RangeError) return false;
        throw cause;
      } finally {
        if (known.size > 0) known.clear();
      }
    },
  };
}
