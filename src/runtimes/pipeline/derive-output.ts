import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { nestSchema } from "../compose/nest-schema.ts";
import { searchReference, type Knowledge } from "./check-uses.ts";
import { findRoot, type Use } from "./find-uses.ts";
import { hasReference } from "./has-reference.ts";
import type { Reference } from "./parse-reference.ts";
import type { Template } from "./parse-template.ts";
import type { PlannedStep } from "./plan.ts";

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
