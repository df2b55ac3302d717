import { quote, type Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { isName, nameRule } from "../../core/names.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { CallerInputOf, InputOf, Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, type CompositionDefinition } from "./compose-tool.ts";
import { inputForAll, nestSchema, type InputForAll } from "./composed-schemas.ts";
import { toPart, type MappedTool, type Part } from "./part.ts";
import { runPlan, type RunnablePlan } from "./run-plan.ts";

/** What {@link parallel} takes if every tool takes a part of one input. */
export interface ParallelDefinition<Tools> extends CompositionDefinition {
  readonly input?: never;
  readonly tools: Tools;
}

/** What {@link parallel} takes if it has an input of its own. */
export interface MappedParallelDefinition<Schema extends SchemaSource, Inputs, Outputs> extends CompositionDefinition {
  readonly input: Schema;
  readonly tools: MappedTools<InputOf<Schema>, Inputs, Outputs>;
}

/** Tools by key, each for one input or with an input that is made out of it. */
export type MappedTools<Input, Inputs, Outputs> = {
  readonly [Key in keyof Inputs]: TypedTool<Input, unknown> | MappedTool<[input: Input], Inputs[Key], unknown>;
} & {
  readonly [Key in keyof Outputs]: TypedTool<never, Outputs[Key]> | { readonly tool: TypedTool<never, Outputs[Key]> };
};

/** The outputs of tools, under the tools' keys. */
export type OutputsOf<Tools> = {
  readonly [Key in keyof Tools]: Tools[Key] extends TypedTool<never, infer Output> ? Output : never;
};

/** For more, {@link mapReduce} takes a list and bounds how much of it runs at once. */
const mostTools = 64;

/**
 * Makes a tool that runs tools at the same time and answers with all their outputs, each under the tool's key.
 *
 * Every tool gets the parameters of the input that it has. If they do not fit by themselves, give `input` and write
 * `{ tool, input: (input) => … }`. One that fails makes the whole fail at once, with `step-failed`.
 *
 * @throws {KitbagError} `tool-invalid` if the definition is wrong.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, parallel } from "kitbag";
 * import { z } from "zod";
 *
 * const input = z.object({ text: z.string() });
 * const words = defineTool({ name: "words", description: "Counts words", input, run: ({ text }) => text.split(" ").length });
 * const letters = defineTool({ name: "letters", description: "Counts letters", input, run: ({ text }) => text.length });
 * const measure = parallel({ name: "measure", description: "Measures a text", tools: { words, letters } });
 * const outcome = await createWorkspace({ tools: [measure] }).call(measure, { text: "one two" });
 * console.assert(outcome.status === "ok" && outcome.output.words === 2 && outcome.output.letters === 7);
 * ```
 */
export function parallel<Tools extends Readonly<Record<string, Tool>>>(
  definition: ParallelDefinition<Tools>,
): TypedTool<InputForAll<Tools>, OutputsOf<Tools>>;
export function parallel<Schema extends SchemaSource, Inputs, Outputs>(
  definition: MappedParallelDefinition<Schema, Inputs, Outputs>,
): TypedTool<CallerInputOf<Schema>, Outputs>;
export function parallel(
  definition: CompositionDefinition & { readonly input?: SchemaSource; readonly tools: object },
): Tool {
  const { tools, input, ...rest } = definition;
  const problems: Problem[] = [];
  const branches = toBranches(tools, problems);
  const parts = [...branches.values()];
  const keys = [...branches.keys()];
  const plan: RunnablePlan = {
    name: rest.name,
    errorCode: "tool-failed",
    maxConcurrent: mostTools,
    steps: Array.from(branches, ([label, { tool, toInput }]) => {
      return { label, after: [], tool, toInput: ({ input: value }) => toInput(value) };
    }),
    toOutput: ({ values }) => Object.fromEntries(keys.map((key, index) => [key, values[index]])),
  };
  return composeTool({
    definition: rest,
    parts,
    input: input ?? inputForAll(parts, problems),
    output: outputsSchema(branches),
    problems,
    run: (value, context) => runPlan(plan, value, context),
  });
}

function toBranches(tools: unknown, problems: Problem[]): ReadonlyMap<string, Part> {
  const branches = new Map<string, Part>();
  const entries = typeof tools === "object" && tools !== null && !Array.isArray(tools) ? Object.entries(tools) : [];
  if (entries.length === 0 || entries.length > mostTools) {
    const found = entries.length === 0 ? showValue(tools) : `${entries.length}`;
    problems.push({ path: "tools", expected: `an object with 1 to ${mostTools} tools`, found });
    return branches;
  }
  for (const [key, given] of entries) {
    const path = `tools.${key}`;
    if (!isName(key)) problems.push({ path: "tools", expected: `keys of ${nameRule}`, found: quote(key) });
    const part = toPart(given, path, problems);
    if (part !== undefined) branches.set(key, part);
  }
  return branches;
}

function outputsSchema(branches: ReadonlyMap<string, Part>): JsonSchema {
  const properties = Array.from(branches, ([key, { tool }]) => {
    return [key, nestSchema(tool.outputSchema, `#/properties/${key}`)] as const;
  });
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: [...branches.keys()],
    additionalProperties: false,
  };
}
