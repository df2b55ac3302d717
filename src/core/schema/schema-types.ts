import type { JsonValue } from "../json.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Which side of a check a type is for: what a caller may give, or what there is once defaults are filled in. */
type Side = "given" | "checked";

/**
 * The type of the values that a JSON Schema describes, if it is written `as const`, so that the compiler knows its text; else any JSON.
 * Keywords that no type can express (`minimum`, `pattern`, …) are left to the check.
 */
export type ValueOf<Schema, Of extends Side = "checked"> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] }
      ? ValueOf<Branch, Of>
      : Schema extends { readonly oneOf: readonly (infer Branch)[] }
        ? ValueOf<Branch, Of>
        : Schema extends { readonly type: infer Type }
          ? OfType<Schema, Type extends readonly (infer One)[] ? One : Type, Of>
          : JsonValue;

/** Whether the compiler knows what a JSON Schema says, so that it has a type of its own. */
export type IsKnownSchema<Schema> = Schema extends JsonSchema
  ? string extends keyof Schema
    ? false
    : Schema extends { readonly type: infer Type }
      ? string extends Type
        ? false
        : "object" extends Type
          ? Schema extends { readonly properties: unknown }
            ? true
            : false
          : true
      : Schema extends { readonly const: unknown } | { readonly enum: unknown } | { readonly anyOf: unknown }
        ? true
        : false
  : false;

interface SimpleTypes {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type OfType<Schema, Type, Of extends Side> = Type extends keyof SimpleTypes
  ? SimpleTypes[Type]
  : Type extends "array"
    ? readonly (Schema extends { readonly items: infer Items } ? ValueOf<Items, Of> : JsonValue)[]
    : Type extends "object"
      ? OfObject<Schema, Of>
      : JsonValue;

type OfObject<Schema, Of extends Side> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      { readonly [Name in RequiredNames<Schema, Properties, Of>]: ValueOf<Properties[Name], Of> } & {
        readonly [Name in Exclude<keyof Properties, RequiredNames<Schema, Properties, Of>>]?: ValueOf<
          Properties[Name],
          Of
        >;
      } & Others<Schema>
    >
  : Readonly<Record<string, JsonValue>>;

/** A property with a default need not be given, and is there once the input is checked. */
type RequiredNames<Schema, Properties, Of extends Side> = Of extends "checked"
  ? Listed<Schema, Properties> | WithDefault<Properties>
  : Exclude<Listed<Schema, Properties>, WithDefault<Properties>>;

type Listed<Schema, Properties> = Schema extends { readonly required: readonly (infer Name)[] }
  ? Extract<keyof Properties, Name>
  : never;

type WithDefault<Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never;
}[keyof Properties];

/** Properties that a schema takes beside those that it lists. */
type Others<Schema> = Schema extends { readonly additionalProperties: infer Rest }
  ? Rest extends false
    ? unknown
    : { readonly [name: string]: unknown }
  : unknown;

type Flat<Value> = { [Name in keyof Value]: Value[Name] };

/** The same value, of which nothing is changed: what code returns may be read-only. */
export type ReadonlyDeep<Value> = Value extends readonly (infer Item)[]
  ? number extends Value["length"]
    ? readonly ReadonlyDeep<Item>[]
    : { readonly [Index in keyof Value]: ReadonlyDeep<Value[Index]> }
  : Value extends object
    ? { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }
    : Value;
