import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, type CompositionDefinition } from "./compose-tool.ts";
import { callPart, toParts, type MappedTool } from "./part.ts";

/** The first step of a pipeline: a tool for the pipeline's input, or one whose input is made out of it. */
export type FirstStep<Input, Mapped, Output> = TypedTool<Input, Output> | MappedTool<[input: Input], Mapped, Output>;

/** A later step: a tool for the output before it, or one whose input is made out of that output and the pipeline's input. */
export type NextStep<Input, Previous, Mapped, Output> =
  | TypedTool<Previous, Output>
  | MappedTool<[previous: Previous, input: Input], Mapped, Output>;

/** What {@link pipeline} takes. */
export interface PipelineDefinition<Caller, Input, Steps> extends CompositionDefinition {
  /** Needed only if the first step's input is made out of something else. @default the first step's schema */
  readonly input?: StandardSchemaV1<Caller, Input> | JsonSchema;
  readonly steps: Steps;
}

/**
 * Makes a tool that runs tools one after the other, each on the output of the one before. The compiler checks that they fit.
 *
 * A step gets the properties of that output that it has parameters for; write `{ tool, input: (previous, input) => … }` where
 * they do not fit by themselves. A step that fails ends the pipeline with `step-failed`. Up to eight steps; a pipeline is a
 * tool, so a longer one is made of two.
 *
 * @throws {KitbagError} `tool-invalid` if the definition is wrong.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, pipeline } from "kitbag";
 * import { z } from "zod";
 *
 * const split = defineTool({
 *   name: "split",
 *   description: "Splits a text into words",
 *   input: z.object({ text: z.string() }),
 *   run: ({ text }) => ({ words: text.split(" ") }),
 * });
 * const count = defineTool({
 *   name: "count",
 *   description: "Counts words",
 *   input: z.object({ words: z.array(z.string()) }),
 *   run: ({ words }) => words.length,
 * });
 * const countWords = pipeline({ name: "count-words", description: "Counts the words of a text", steps: [split, count] });
 * const outcome = await createWorkspace({ tools: [countWords] }).call(countWords, { text: "one two three" });
 * console.assert(outcome.status === "ok" && outcome.output === 3);
 * ```
 */
export function pipeline<In, Own1, Out1, Caller = In>(
  definition: PipelineDefinition<Caller, In, readonly [FirstStep<In, Own1, Out1>]>,
): TypedTool<Caller, Out1>;
export function pipeline<In, Own1, Out1, Own2, Out2, Caller = In>(
  definition: PipelineDefinition<Caller, In, readonly [FirstStep<In, Own1, Out1>, NextStep<In, Out1, Own2, Out2>]>,
): TypedTool<Caller, Out2>;
export function pipeline<In, Own1, Out1, Own2, Out2, Own3, Out3, Caller = In>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [FirstStep<In, Own1, Out1>, NextStep<In, Out1, Own2, Out2>, NextStep<In, Out2, Own3, Out3>]
  >,
): TypedTool<Caller, Out3>;
export function pipeline<In, Own1, Out1, Own2, Out2, Own3, Out3, Own4, Out4, Caller = In>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>,
      NextStep<In, Out2, Own3, Out3>,
      NextStep<In, Out3, Own4, Out4>,
    ]
  >,
): TypedTool<Caller, Out4>;
export function pipeline<In, Own1, Out1, Own2, Out2, Own3, Out3, Own4, Out4, Own5, Out5, Caller = In>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>,
      NextStep<In, Out2, Own3, Out3>,
      NextStep<In, Out3, Own4, Out4>,
      NextStep<In, Out4, Own5, Out5>,
    ]
  >,
): TypedTool<Caller, Out5>;
export function pipeline<In, Own1, Out1, Own2, Out2, Own3, Out3, Own4, Out4, Own5, Out5, Own6, Out6, Caller = In>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>,
      NextStep<In, Out2, Own3, Out3>,
      NextStep<In, Out3, Own4, Out4>,
      NextStep<In, Out4, Own5, Out5>,
      NextStep<In, Out5, Own6, Out6>,
    ]
  >,
): TypedTool<Caller, Out6>;
export function pipeline<
  In,
  Own1,
  Out1,
  Own2,
  Out2,
  Own3,
  Out3,
  Own4,
  Out4,
  Own5,
  Out5,
  Own6,
  Out6,
  Own7,
  Out7,
  Caller = In,
>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>,
      NextStep<In, Out2, Own3, Out3>,
      NextStep<In, Out3, Own4, Out4>,
      NextStep<In, Out4, Own5, Out5>,
      NextStep<In, Out5, Own6, Out6>,
      NextStep<In, Out6, Own7, Out7>,
    ]
  >,
): TypedTool<Caller, Out7>;
export function pipeline<
  In,
  Own1,
  Out1,
  Own2,
  Out2,
  Own3,
  Out3,
  Own4,
  Out4,
  Own5,
  Out5,
  Own6,
  Out6,
  Own7,
  Out7,
  Own8,
  Out8,
  Caller = In,
>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>,
      NextStep<In, Out2, Own3, Out3>,
      NextStep<In, Out3, Own4, Out4>,
      NextStep<In, Out4, Own5, Out5>,
      NextStep<In, Out5, Own6, Out6>,
      NextStep<In, Out6, Own7, Out7>,
      NextStep<In, Out7, Own8, Out8>,
    ]
  >,
): TypedTool<Caller, Out8>;
export function pipeline(
  definition: CompositionDefinition & { readonly input?: SchemaSource; readonly steps: readonly unknown[] },
): Tool {
  const { steps: given, input, ...rest } = definition;
  const problems: Problem[] = [];
  if (!Array.isArray(given) || given.length === 0) {
    problems.push({ path: "steps", expected: "a list of tools", found: showValue(given) });
  }
  const steps = toParts(Array.isArray(given) ? given.entries() : [], (index) => `steps[${index}]`, problems);
  // Without a schema of its own a pipeline takes what its first step takes; that says nothing if a function makes it.
  if (input === undefined && steps[0]?.isMapped === true) {
    problems.push({ path: "input", expected: "a schema, because the first step's input is made", found: "nothing" });
  }
  return composeTool({
    definition: rest,
    parts: steps,
    input: input ?? steps[0]?.tool.inputSchema ?? {},
    output: steps.at(-1)?.tool.outputSchema,
    problems,
    async run(value, context) {
      let previous = value;
      for (const [index, step] of steps.entries()) {
        context.signal.throwIfAborted();
        context.progress({ message: step.tool.name, done: index, total: steps.length });
        const place = { tool: rest.name, step: `${index + 1}: ${step.tool.name}` };
        previous = await callPart(context, step, place, index === 0 ? [value] : [previous, value]);
      }
      return previous;
    },
  });
}
