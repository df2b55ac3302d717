import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ToolAnnotations, ToolExample, ToolLimits } from "../../core/tool.ts";

/**
 * A pipeline as data, so that it can stand in a file or be written by a model.
 *
 * References: `$input.a.b`, `$input.list[0]`, `$input["any key"]`, `$prev` (the step before), `$id` (another step), `$item` and
 * `$index` inside `forEach`, `$errors.id` (why a step with `continueOnError` failed, else `null`). A value that is one
 * reference keeps its type; inside text, `$id.field` or `${id.field}` is replaced. `$$` is a dollar sign.
 */
export interface PipelineSpec {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  /** @default the parameters that the references to `$input` name */
  readonly input?: JsonSchema;
  /** Made of references like `args`. @default the last step's output */
  readonly output?: JsonValue;
  readonly steps: readonly PipelineStep[];
  /** What is to be added to what follows from the steps' tools. To make it milder is an error. */
  readonly annotations?: ToolAnnotations;
  readonly permissions?: Permissions;
  readonly examples?: readonly ToolExample[];
  readonly needsApproval?: boolean;
  readonly limits?: ToolLimits;
}

/** One step of a pipeline. It runs as soon as the steps it refers to have run. */
export interface PipelineStep {
  /** By which others refer to it. */
  readonly id?: string;
  /** The address of the tool. */
  readonly tool: string;
  /** The tool's input, or one reference to it. @default {} */
  readonly args?: JsonObject | string;
  /** Without it holding, the step does not run and its value is `null`. With `$item` it is asked for each item. */
  readonly if?: string | boolean;
  /** Calls the tool for each item; the value is the list of outputs. */
  readonly forEach?: readonly JsonValue[] | string;
  /** How many items are worked on at once. @default 8 */
  readonly maxConcurrent?: number;
  /** A failure does not end the pipeline: the value (in `forEach`, of the item) is `null`. */
  readonly continueOnError?: boolean;
  /** Steps that must have run before, though nothing refers to them. */
  readonly after?: string | readonly string[];
}

/** How many steps a pipeline may have. */
export const maxSteps = 200;

const stepSchema: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    tool: { type: "string" },
    args: { type: ["object", "string"] },
    if: { type: ["string", "boolean"] },
    forEach: { type: ["array", "string"] },
    maxConcurrent: { type: "integer", minimum: 1, maximum: 1000 },
    continueOnError: { type: "boolean" },
    after: { type: ["string", "array"], items: { type: "string" } },
  },
  required: ["tool"],
  additionalProperties: false,
};

/** The JSON Schema of a {@link PipelineSpec}, for editors and for tools that take one. */
export const pipelineSchema: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    title: { type: "string" },
    description: { type: "string" },
    version: { type: "string" },
    input: { type: "object" },
    output: {},
    steps: { type: "array", items: stepSchema, minItems: 1, maxItems: maxSteps },
    annotations: { type: "object" },
    permissions: { type: "object" },
    examples: { type: "array" },
    needsApproval: { type: "boolean" },
    limits: { type: "object" },
  },
  required: ["name", "description", "steps"],
  additionalProperties: false,
};
