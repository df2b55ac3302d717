import { isSchemaObject, type JsonSchema, resolveReference, wantedTypes } from "../../core/schema/json-schema.ts";
import type { SchemaRules } from "./schema-rules.ts";
import { constraintsOf, noteOf, tellConstraints, withNote } from "./tell-constraints.ts";

/**
 * Writes a schema as a provider takes it, or answers with `undefined` if the provider's form cannot say it. What the provider cannot
 * enforce is told in descriptions. The check of the answer puts right what differs: optional properties may be null where the provider
 * wants all of them.
 */
export function fitSchema(schema: JsonSchema, rules: SchemaRules): JsonSchema | undefined {
  const fitted = fitOnce(schema, rules);
  if (fitted !== undefined || rules.requiresAll === true || rules.maxOptional === undefined) return fitted;
  // There may be too many optional properties: as values that may be null they count as something else.
  return fitOnce(schema, { ...rules, requiresAll: true });
}

function fitOnce(schema: JsonSchema, rules: SchemaRules): JsonSchema | undefined {
  try {
    return new Fitting(schema, rules).root();
  } catch (cause) {
    if (cause === unfit) return undefined;
    throw cause;
  }
}

/** Thrown where the form of a provider cannot say what a schema does. */
const unfit = new Error("The schema does not fit");

/** Keywords that change what a value is made of, and that no provider reads. */
const structural = [
  "patternProperties",
  "if",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
  "$dynamicRef",
];

/** Keywords that say what a value is made of. */
const shaping = [
  "type",
  "properties",
  "items",
  "prefixItems",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "additionalProperties",
];

class Fitting {
  readonly #root: JsonSchema;
  readonly #rules: SchemaRules;
  /** The schemas that are referred to, by their new names; `undefined` while one is being written. */
  readonly #defs = new Map<string, JsonSchema | undefined>();
  /** The new name of each reference, and how many optional properties were above it where it was first met. */
  readonly #names = new Map<string, { readonly name: string; readonly optionalAbove: number }>();
  #optionalAbove = 0;
  #depth = 0;
  readonly #counts = { properties: 0, optional: 0, unions: 0, choices: 0 };

  constructor(root: JsonSchema, rules: SchemaRules) {
    this.#root = root;
    this.#rules = rules;
  }

  root(): JsonSchema {
    let schema = this.#merge(this.#root);
    // Providers want the object itself at the root, and not a reference to it.
    for (let depth = 0; typeof schema["$ref"] === "string"; depth++) {
      if (depth > 20) throw unfit;
      schema = this.#merge(this.#find(schema["$ref"]));
    }
    const fitted = this.#fit(schema);
    const {
      maxOptional = Infinity,
      maxUnions = Infinity,
      maxProperties = Infinity,
      maxChoices = Infinity,
    } = this.#rules;
    const { properties, optional, unions, choices } = this.#counts;
    if (fitted["type"] !== "object" || optional > maxOptional || unions > maxUnions) throw unfit;
    if (properties > maxProperties || choices > maxChoices) throw unfit;
    return this.#defs.size === 0 ? fitted : { ...fitted, $defs: Object.fromEntries(this.#defs) };
  }

  #find(reference: string): JsonSchema {
    const found = resolveReference(this.#root, reference);
    if (!isSchemaObject(found)) throw unfit;
    return found;
  }

  #fit(given: unknown): JsonSchema {
    // Anything at all: no provider has a form for that.
    if (!isSchemaObject(given)) throw unfit;
    const schema = this.#merge(given);
    if (typeof schema["$ref"] === "string") return this.#refer(schema["$ref"]);
    if (structural.some((keyword) => Object.hasOwn(schema, keyword))) throw unfit;
    const branches = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(branches)) return this.#fitBranches(schema, branches);
    if (Object.hasOwn(schema, "const")) return this.#fitChoices(schema, [schema["const"]]);
    if (Array.isArray(schema["enum"])) return this.#fitChoices(schema, schema["enum"] as unknown[]);
    return this.#fitTypes(schema);
  }

  /** Puts the parts of an `allOf` together, if that says the same. */
  #merge({ allOf, ...schema }: JsonSchema): JsonSchema {
    if (!Array.isArray(allOf)) return schema;
    const [only] = allOf;
    const isBare = !shaping.some((keyword) => Object.hasOwn(schema, keyword));
    if (isBare && allOf.length === 1 && isSchemaObject(only)) return this.#merge({ ...schema, ...only });
    const parts = allOf.map((part: unknown) => {
      if (!isSchemaObject(part)) throw unfit;
      return this.#merge(typeof part["$ref"] === "string" ? this.#find(part["$ref"]) : part);
    });
    return mergeObjects(isBare ? parts : [schema, ...parts], schema);
  }

  #refer(reference: string): JsonSchema {
    const known = this.#names.get(reference);
    const name = known?.name ?? this.#nameOf(reference);
    if (known === undefined) {
      this.#names.set(reference, { name, optionalAbove: this.#optionalAbove });
      this.#defs.set(name, undefined);
      this.#defs.set(name, this.#fit(this.#find(reference)));
    } else if (this.#defs.get(name) === undefined) {
      const { recursion } = this.#rules;
      const isOptional = this.#optionalAbove > known.optionalAbove;
      if (recursion === "never" || (recursion === "optional" && !isOptional)) throw unfit;
    }
    return { $ref: `#/$defs/${name}` };
  }

  #nameOf(reference: string): string {
    const last = reference.slice(reference.lastIndexOf("/") + 1).replaceAll(/[^A-Za-z0-9_-]/gu, "_");
    const wanted = reference === "#" || last === "" ? "root" : last;
    let name = wanted;
    for (let count = 2; this.#defs.has(name); count++) name = `${wanted}_${count}`;
    return name;
  }

  #fitBranches(schema: JsonSchema, branches: readonly unknown[]): JsonSchema {
    const [type, ...others] = wantedTypes(schema);
    const isPlain = !["properties", "items", "enum", "const"].some((keyword) => Object.hasOwn(schema, keyword));
    if (!isPlain || others.length > 0 || branches.length === 0) throw unfit;
    this.#counts.unions += 1;
    // The type of all branches may stand beside them.
    const isUntyped = (branch: unknown): branch is JsonSchema =>
      isSchemaObject(branch) && !["type", "$ref", "anyOf", "oneOf"].some((keyword) => Object.hasOwn(branch, keyword));
    const typed = branches.map((branch) => (type !== undefined && isUntyped(branch) ? { type, ...branch } : branch));
    return { ...tellConstraints(schema, this.#rules, undefined), anyOf: typed.map((branch) => this.#fit(branch)) };
  }

  #fitChoices(schema: JsonSchema, choices: readonly unknown[]): JsonSchema {
    const types = [...new Set(choices.map(typeOfChoice))];
    const [type] = types;
    if (type === undefined || types.includes("other")) throw unfit;
    this.#counts.choices += choices.length;
    const notes = tellConstraints(schema, this.#rules, undefined);
    if (types.length > 1) {
      this.#counts.unions += 1;
      const groups = types.map((one) => choices.filter((choice) => typeOfChoice(choice) === one));
      return { ...notes, anyOf: groups.map((group) => this.#fitChoices({}, group)) };
    }
    if (type === "null") return { ...notes, type };
    if (type !== "boolean" || this.#rules.listsPlainChoices !== true) return { ...notes, type, enum: choices };
    return { ...withNote(notes, choices.length === 1 ? `always ${String(choices[0])}` : ""), type };
  }

  #fitTypes(schema: JsonSchema): JsonSchema {
    const types = wantedTypes(schema);
    const [type = inferType(schema), ...others] = types;
    if (type === undefined) throw unfit;
    if (others.length === 0) return this.#fitType(schema, type);
    this.#counts.unions += 1;
    const [only, ...more] = types.filter((one) => one !== "null");
    if (only !== undefined && more.length === 0) return orNull(this.#fitType(schema, only));
    const { description: _, ...bare } = schema;
    return { ...noteOf(schema), anyOf: types.map((one) => this.#fitType(bare, one)) };
  }

  #fitType(schema: JsonSchema, type: string): JsonSchema {
    const base = { ...tellConstraints(schema, this.#rules, type), type };
    if (type === "object") return { ...base, ...this.#fitObject(schema) };
    return type === "array" ? { ...base, ...this.#fitItems(schema) } : base;
  }

  #fitObject({ properties, required, additionalProperties: others }: JsonSchema): JsonSchema {
    const { requiresAll = false, takesOpenObjects = false, maxDepth = Infinity } = this.#rules;
    const isOpen = properties === undefined ? others !== false : !isClosed(others);
    if ((isOpen && !takesOpenObjects) || this.#depth >= maxDepth) throw unfit;
    this.#depth += 1;
    const needed = new Set(Array.isArray(required) ? (required as string[]) : []);
    const named = isSchemaObject(properties) ? Object.entries(properties) : [];
    const fitted = named.map(([name, property]) => [name, this.#fitProperty(property, needed.has(name))] as const);
    const open = isOpen && isSchemaObject(others) && Object.keys(others).length > 0 ? this.#fit(others) : isOpen;
    this.#depth -= 1;
    this.#counts.properties += fitted.length;
    const names = fitted.map(([name]) => name).filter((name) => requiresAll || needed.has(name));
    return { properties: Object.fromEntries(fitted), required: names, additionalProperties: open };
  }

  #fitProperty(property: unknown, isNeeded: boolean): JsonSchema {
    if (isNeeded) return this.#fit(property);
    this.#optionalAbove += 1;
    const fitted = this.#fit(property);
    this.#optionalAbove -= 1;
    if (this.#rules.requiresAll !== true) {
      this.#counts.optional += 1;
      return fitted;
    }
    const nullable = orNull(fitted);
    if (nullable !== fitted) this.#counts.unions += 1;
    return nullable;
  }

  #fitItems({ items, prefixItems, maxItems, minItems = 0 }: JsonSchema): JsonSchema {
    const places = Array.isArray(items) ? items : prefixItems;
    if (!Array.isArray(places)) return { items: this.#fit(items) };
    const isWhole = this.#rules.takesTuples === true && !isSchemaObject(items);
    if (!isWhole) throw unfit;
    const least = Math.max(Number(minItems), places.length);
    return {
      prefixItems: places.map((place) => this.#fit(place)),
      minItems: least,
      maxItems: maxItems ?? places.length,
    };
  }
}

/** What takes a value of a schema, or null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { description: _, ...rest } = schema;
  const { type, anyOf } = rest;
  const nothing = { type: "null" };
  if (Array.isArray(anyOf)) {
    return anyOf.some(takesNull) ? schema : { ...noteOf(schema), anyOf: [...(anyOf as unknown[]), nothing] };
  }
  if (takesNull(schema)) return schema;
  if (typeof type === "string" && rest["enum"] === undefined) return { ...schema, type: [type, "null"] };
  return { ...noteOf(schema), anyOf: [rest, nothing] };
}

function takesNull(schema: unknown): boolean {
  return isSchemaObject(schema) && wantedTypes(schema).includes("null");
}

function isClosed(others: unknown): boolean {
  return others === undefined || others === false;
}

function typeOfChoice(choice: unknown): string {
  if (choice === null) return "null";
  return ["boolean", "string", "number"].includes(typeof choice) ? typeof choice : "other";
}

/** What a schema without a type means. */
function inferType(schema: JsonSchema): string | undefined {
  if (schema["properties"] !== undefined) return "object";
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array";
  return ["string", "number"].find((type) => constraintsOf[type]?.some((keyword) => schema[keyword] !== undefined));
}

/** Several objects as one, if no property is in two of them. */
function mergeObjects(parts: readonly JsonSchema[], notes: JsonSchema): JsonSchema {
  const properties: Record<string, unknown> = {};
  const required: unknown[] = [];
  for (const part of parts) {
    if ((part["type"] ?? inferType(part)) !== "object" || !isClosed(part["additionalProperties"])) throw unfit;
    for (const [name, property] of Object.entries(part["properties"] ?? {})) {
      if (Object.hasOwn(properties, name)) throw unfit;
      properties[name] = property;
    }
    if (Array.isArray(part["required"])) required.push(...(part["required"] as unknown[]));
  }
  return { ...noteOf(notes), type: "object", properties, required };
}
