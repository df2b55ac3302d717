import { isDeepStrictEqual } from "node:util";

import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { Knowledge } from "./check-uses.ts";
import { findUses } from "./find-uses.ts";
import { hasReference } from "./has-reference.ts";
import type { Template } from "./parse-template.ts";
import type { PlannedStep } from "./plan.ts";

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
  if (step.args.kind !== "object" || !isSchemaObject(properties)) return;
  const isAlways = step.condition === undefined && step.forEach === undefined && !step.continueOnError;
  const needed = new Set(isAlways && Array.isArray(required) ? (required as unknown[]) : []);
  for (const [parameter, template] of step.args.entries) {
    const name = getPassed(template);
    const schema = Object.hasOwn(properties, parameter) ? properties[parameter] : undefined;
    if (name === undefined || !isSchemaObject(schema) || hasReference(schema)) continue;
    yield { name, schema, isRequired: needed.has(parameter) };
  }
}

/** The parameter of the pipeline that a template hands on as it is. */
function getPassed(template: Template): string | undefined {
  if (template.kind !== "reference" || template.reference.root !== "input") return undefined;
  const [name, ...inside] = template.reference.path;
  return typeof name === "string" && inside.length === 0 ? name : undefined;
}
