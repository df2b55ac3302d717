import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, type CompositionDefinition } from "./compose-tool.ts";
import { toParts, type MappedTool, type Part } from "./part.ts";
import { runPlan, type RunnablePlan, type RunnableStep } from "./run-plan.ts";

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
 * they do not fit by themselves. A step that fails ends the pipeline with `step-failed`. Up to sixteen steps; a pipeline is a
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
export function pipeline<
  In,
  Own1,
  Out1,
  Own2 = unknown,
  Out2 = Out1,
  Own3 = unknown,
  Out3 = Out2,
  Own4 = unknown,
  Out4 = Out3,
  Own5 = unknown,
  Out5 = Out4,
  Own6 = unknown,
  Out6 = Out5,
  Own7 = unknown,
  Out7 = Out6,
  Own8 = unknown,
  Out8 = Out7,
  Own9 = unknown,
  Out9 = Out8,
  Own10 = unknown,
  Out10 = Out9,
  Own11 = unknown,
  Out11 = Out10,
  Own12 = unknown,
  Out12 = Out11,
  Own13 = unknown,
  Out13 = Out12,
  Own14 = unknown,
  Out14 = Out13,
  Own15 = unknown,
  Out15 = Out14,
  Own16 = unknown,
  Out16 = Out15,
  Caller = In,
>(
  definition: PipelineDefinition<
    Caller,
    In,
    readonly [
      FirstStep<In, Own1, Out1>,
      NextStep<In, Out1, Own2, Out2>?,
      NextStep<In, Out2, Own3, Out3>?,
      NextStep<In, Out3, Own4, Out4>?,
      NextStep<In, Out4, Own5, Out5>?,
      NextStep<In, Out5, Own6, Out6>?,
      NextStep<In, Out6, Own7, Out7>?,
      NextStep<In, Out7, Own8, Out8>?,
      NextStep<In, Out8, Own9, Out9>?,
      NextStep<In, Out9, Own10, Out10>?,
      NextStep<In, Out10, Own11, Out11>?,
      NextStep<In, Out11, Own12, Out12>?,
      NextStep<In, Out12, Own13, Out13>?,
      NextStep<In, Out13, Own14, Out14>?,
      NextStep<In, Out14, Own15, Out15>?,
      NextStep<In, Out15, Own16, Out16>?,
    ]
  >,
): TypedTool<Caller, Out16>;
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
  const plan: RunnablePlan = { name: rest.name, errorCode: "tool-failed", steps: steps.map(toStep) };
  return composeTool({
    definition: rest,
    parts: steps,
    input: input ?? steps[0]?.tool.inputSchema ?? {},
    output: steps.at(-1)?.tool.outputSchema,
    problems,
    run: (value, context) => runPlan(plan, value, context),
  });
}

function toStep({ tool, toInput }: Part, index: number): RunnableStep {
  return {
    label: `${index + 1}: ${tool.name}`,
    message: tool.name,
    after: index === 0 ? [] : [index - 1],
    tool,
    toInput: ({ input, values }) => (index === 0 ? toInput(input) : toInput(values[index - 1], input)),
  };
}
