import { isKitbagError, KitbagError, type Problem } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { ToolContext, Tool, TypedTool } from "../../core/tool.ts";

/** A tool, and how its input is made out of what is there. */
export interface MappedTool<From extends readonly unknown[], Input, Output> {
  readonly tool: TypedTool<Input, Output>;
  readonly input: (...from: From) => Input | Promise<Input>;
}

/** A part of a composed tool, its types sealed. */
export interface Part {
  readonly tool: Tool;
  /** The author makes its input; else it gets what is there, as far as it has parameters for it. */
  readonly isMapped: boolean;
  readonly toInput: (...from: readonly unknown[]) => unknown;
}

/** Takes what an author gave as parts. What is no tool is added to `problems`, and left out. */
export function toParts<Key>(
  given: Iterable<readonly [key: Key, part: unknown]>,
  toPath: (key: Key) => string,
  problems: Problem[],
): Part[] {
  return Array.from(given, ([key, part]) => toPart(part, toPath(key), problems)).filter((part) => part !== undefined);
}

/** Takes what an author gave as a part. What is no tool is added to `problems`. */
export function toPart(given: unknown, path: string, problems: Problem[]): Part | undefined {
  const isMapped = typeof given === "object" && given !== null && "tool" in given;
  const tool = isMapped ? given.tool : given;
  if (!isTool(tool)) {
    problems.push({ path: isMapped ? `${path}.tool` : path, expected: "a tool", found: showValue(tool) });
    return undefined;
  }
  const map = isMapped && "input" in given ? given.input : undefined;
  if (map === undefined) return { tool, isMapped: false, toInput: (from) => pickParameters(tool.inputSchema, from) };
  if (typeof map === "function") return { tool, isMapped: true, toInput: map as Part["toInput"] };
  problems.push({ path: `${path}.input`, expected: "a function that makes the input", found: showValue(map) });
  return undefined;
}

/** Tells whether `value` is a tool, as far as a look at it can tell. */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, inputSchema, annotations, permissions, code } = value as Partial<Tool>;
  return typeof name === "string" && [inputSchema, annotations, permissions, code].every((field) => isObject(field));
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Where in a composed tool a step is, for its failure. */
export interface StepPlace {
  /** The name of the composed tool. */
  readonly tool: string;
  readonly step: string;
}

/**
 * Calls a part with the input that is made out of `from`.
 *
 * @throws {KitbagError} `step-failed` if the input cannot be made or the call fails.
 */
export async function callPart(
  context: ToolContext,
  { tool, toInput }: Part,
  place: StepPlace,
  from: readonly unknown[],
): Promise<unknown> {
  const input = await runStepCode(place, () => toInput(...from));
  return takeOutput(await context.call(tool, input), place);
}

/**
 * Runs a function of the author that belongs to a step.
 *
 * @throws {KitbagError} `step-failed` if it throws.
 */
export async function runStepCode<Result>(place: StepPlace, run: () => Result): Promise<Awaited<Result>> {
  try {
    return await run();
  } catch (cause) {
    const code = isKitbagError(cause) ? cause.code : "tool-failed";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KitbagError("step-failed", { ...place, code, reason }, { cause });
  }
}

/**
 * Takes the output of a step's call.
 *
 * @throws {KitbagError} `step-failed` if there is none, or only its head: a piece of an output is not data for the next step.
 */
export function takeOutput<Output>(outcome: ToolOutcome<Output>, place: StepPlace): Output {
  if (outcome.status === "failed") {
    const { error } = outcome;
    // Steps inside steps: the code says what went wrong at the bottom, the message how we came there.
    const code = error.code === "step-failed" ? error.details.code : error.code;
    throw new KitbagError("step-failed", { ...place, code, reason: error.message });
  }
  if (outcome.capped === undefined) return outcome.output;
  const reason = `its output of ${outcome.capped.bytes} bytes is too large to be handed on; ask the tool for less, or raise "maxOutputBytes"`;
  throw new KitbagError("step-failed", { ...place, code: "output-too-large", reason });
}

/**
 * Leaves out of `value` what a tool with this input schema has no parameters for, at every level. A value with more properties
 * than a type asks for fits the type, so what the compiler accepts between two steps must not fail when it runs.
 */
export function pickParameters(schema: unknown, value: unknown): unknown {
  if (!isSchemaObject(schema) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => pickParameters(schema["items"], item));
  const properties = schema["properties"];
  if (!isSchemaObject(properties) || !isRecord(value)) return value;
  const entries = Object.entries(value).filter(([name]) => isOpen(schema) || Object.hasOwn(properties, name));
  return Object.fromEntries(
    entries.map(([name, inner]) => [
      name,
      Object.hasOwn(properties, name) ? pickParameters(properties[name], inner) : inner,
    ]),
  );
}

function isOpen(schema: JsonSchema): boolean {
  return schema["additionalProperties"] !== false || schema["patternProperties"] !== undefined;
}
