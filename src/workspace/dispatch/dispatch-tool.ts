import { isKitbagError, toFailure, type Failure } from "../../core/errors.ts";
import { copyJson, maxJsonDepth, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { closeSchema } from "../../core/schema/close-schema.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { checkLeniently } from "../../core/schema/validator.ts";
import type { ToolAnnotations } from "../../core/tool.ts";
import type { CallOptions } from "../call/call-options.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";

/** A tool of Kitbag's own, with which a model finds, opens and calls everything else. It is in no workspace. */
export interface DispatchTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Of what it answers with, if that always looks the same. */
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** The tool that it would call now with this input, whatever it is; only if calling one tool is what it is for. */
  findCalled?(input: unknown): RegisteredTool | undefined;
  /**
   * Does what it is for.
   *
   * **Contract**: never throws and never rejects, whatever `input` is. `context` goes with the calls that are made.
   */
  run(input: unknown, context?: CallOptions): Promise<ToolOutcome>;
}

/** What a dispatch tool is made of. */
export interface DispatchDefinition {
  readonly name: string;
  readonly description: string;
  /** The same object each time it is made. */
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  readonly findCalled?: (input: unknown) => RegisteredTool | undefined;
  /** Gets an input that fits. What it throws becomes a failure. */
  readonly run: (input: JsonObject, context: CallOptions) => ToolOutcome | Promise<ToolOutcome>;
}

/** The largest input; a tool behind `call_tool` may take less. */
const maxInputBytes = 16 * 1024 * 1024;

/** Makes a dispatch tool whose input is checked as that of any tool. */
export function createDispatchTool(definition: DispatchDefinition): DispatchTool {
  const { name, description, annotations, outputSchema, findCalled } = definition;
  const inputSchema = schemaOf(definition);

  async function run(given: unknown, context: CallOptions = {}): Promise<ToolOutcome> {
    const copy = copyJson(given ?? {}, { maxBytes: maxInputBytes, maxDepth: maxJsonDepth });
    if (!copy.ok) {
      const tooLarge = { path: "", expected: `at most ${maxInputBytes} bytes of JSON`, found: "more" };
      const problem = copy.reason === "not-json" ? copy.problem : tooLarge;
      return failed(toFailure("input-invalid", { tool: name, problems: [problem] }));
    }
    const checked = checkLeniently(inputSchema, copy.value);
    if (!checked.ok) return failed(toFailure("input-invalid", { tool: name, problems: checked.problems }));
    try {
      return await definition.run(checked.value as JsonObject, context);
    } catch (cause) {
      if (isKitbagError(cause)) return failed(cause.toJSON());
      return failed(toFailure("tool-failed", { tool: name, reason: describeThrown(cause) }));
    }
  }

  return {
    name,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations,
    ...(findCalled !== undefined && { findCalled }),
    run,
  };
}

/** One schema for all sessions, by its properties: it is made into code once. */
const schemas = new WeakMap<object, JsonSchema>();

function schemaOf({ properties, required = [] }: DispatchDefinition): JsonSchema {
  const known = schemas.get(properties);
  if (known !== undefined) return known;
  const schema = closeSchema({ type: "object", properties: { ...properties }, required });
  schemas.set(properties, schema);
  return schema;
}

/** A failed outcome. */
export function failed(error: Failure): FailedOutcome {
  return { status: "failed", error };
}

/** An outcome with an output that is plain data, though its type has a name. */
export function done(output: object): ToolOutcome {
  return { status: "ok", output: output as unknown as JsonValue };
}
