import { isDeepStrictEqual } from "node:util";

import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import { findRoot, findUses, searchReference, type Knowledge, type Use } from "./check-uses.ts";
import { hasReference, nestSchema } from "./composed-schemas.ts";
import type { PlannedStep } from "./read-plan.ts";
import type { Reference, Template } from "./template.ts";

/** The output schema of a pipeline, as far as it follows from its tools; `undefined` if nothing does. */
export function deriveOutput(knowledge: Knowledge): JsonSchema | undefined {
  const { output, steps } = knowledge.plan;
  const last = steps.at(-1);
  if (output !== undefined) return schemaOfTemplate(knowledge, output, "#");
  return last === undefined ? undefined : schemaOfValue(knowledge, last, "#");
}

/** `pointer` is where the schema will stand: references inside it have to lead there. */
function schemaOfTemplate(knowledge: Knowledge, template: Template, pointer: string): JsonSchema | undefined {
  switch (template.kind) {
    case "text":
      return { type: "string" };
    case "reference":
      return schemaOfReference(knowledge, template.reference, pointer);
    case "object":
      return schemaOfObject(knowledge, template.entries, pointer);
    case "list":
      return { type: "array" };
    case "literal":
      return undefined;
  }
}

/** Nothing is required: what leads nowhere is left out. */
function schemaOfObject(
  knowledge: Knowledge,
  entries: readonly (readonly [string, Template])[],
  pointer: string,
): JsonSchema {
  const properties = entries.map(([key, template]) => {
    const inside = `${pointer}/properties/${escapeStep(key)}`;
    return [key, schemaOfTemplate(knowledge, template, inside) ?? {}] as const;
  });
  return { type: "object", properties: Object.fromEntries(properties) };
}

function schemaOfReference(knowledge: Knowledge, reference: Reference, pointer: string): JsonSchema | undefined {
  const use: Use = { reference, path: "output", hasItem: false };
  const root = findRoot(knowledge.plan, use);
  if (root?.kind === "step" && reference.path.length === 0) return schemaOfValue(knowledge, root.step, pointer);
  const search = searchReference(knowledge, use);
  if (search.found !== "place" || hasReference(search.place.schema)) return undefined;
  return orNull(search.place.schema as JsonSchema);
}

function schemaOfValue({ tools }: Knowledge, step: PlannedStep, pointer: string): JsonSchema | undefined {
  const output = tools[step.index]?.outputSchema;
  const mayFail = step.continueOnError;
  const maySkip = step.condition !== undefined;
  if (step.forEach === undefined) {
    if (output === undefined) return undefined;
    return mayFail || maySkip ? orNull(nestSchema(output, `${pointer}/anyOf/0`)) : nestSchema(output, pointer);
  }
  if (mayFail || maySkip) return undefined;
  return { type: "array", items: nestSchema(output, `${pointer}/items`) };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

/** Writes a key as a step of a pointer inside a `$ref`, which is part of an address. */
function escapeStep(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("%", "%25");
}

/**
 * The input schema of a pipeline that does not declare one: the parameters that its references to `$input` name. One that is
 * handed on as a tool's parameter has that parameter's schema, and is required if that one is.
 */
export function inferInput(knowledge: Knowledge): JsonSchema {
  const properties = new Map<string, JsonSchema>();
  let isOpen = false;
  for (const { reference } of findUses(knowledge.plan)) {
    const [name] = reference.path;
    if (reference.root !== "input") continue;
    if (typeof name === "string") properties.set(name, {});
    else isOpen = true;
  }
  const required = new Set<string>();
  for (const passed of findPassed(knowledge)) {
    const before = properties.get(passed.name) ?? {};
    const isNew = Object.keys(before).length === 0;
    // Two tools that want different things of one parameter: each checks it itself.
    properties.set(passed.name, isNew || isDeepStrictEqual(before, passed.schema) ? passed.schema : anyValue);
    if (passed.isRequired) required.add(passed.name);
  }
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: [...required],
    additionalProperties: isOpen,
  };
}

/** Not empty, so that no later schema takes its place. */
const anyValue: JsonSchema = { description: "Any value" };

interface PassedParameter {
  /** Of the pipeline. */
  readonly name: string;
  /** Of the tool's parameter it becomes. */
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function* findPassed({ plan, tools }: Knowledge): Generator<PassedParameter> {
  for (const step of plan.steps) {
    const schema = tools[step.index]?.inputSchema;
    if (schema !== undefined) yield* passedTo(step, schema);
  }
}

function* passedTo(step: PlannedStep, { properties, required }: JsonSchema): Generator<PassedParameter> {
  if (!isSchemaObject(properties)) return;
  const isAlways = step.condition === undefined && step.forEach === undefined && !step.continueOnError;
  const needed = new Set(isAlways && Array.isArray(required) ? (required as unknown[]) : []);
  for (const [parameter, name] of passedNames(step.args, Object.keys(properties))) {
    const schema = Object.hasOwn(properties, parameter) ? properties[parameter] : undefined;
    if (!isSchemaObject(schema) || hasReference(schema)) continue;
    yield { name, schema, isRequired: needed.has(parameter) };
  }
}

/** The parameters of a tool that are parameters of the pipeline, with their names there: all of them if the whole input is passed. */
function passedNames(args: Template, all: readonly string[]): (readonly [parameter: string, name: string])[] {
  if (args.kind === "object") {
    return args.entries.flatMap(([parameter, template]) => {
      const name = getPassed(template);
      return name === undefined ? [] : [[parameter, name] as const];
    });
  }
  const isWhole = args.kind === "reference" && args.reference.root === "input" && args.reference.path.length === 0;
  return isWhole ? all.map((name) => [name, name] as const) : [];
}

/** The parameter of the pipeline that a template passes as it is. */
function getPassed(template: Template): string | undefined {
  if (template.kind !== "reference" || template.reference.root !== "input") return undefined;
  const [name, ...inside] = template.reference.path;
  return typeof name === "string" && inside.length === 0 ? name : undefined;
}
