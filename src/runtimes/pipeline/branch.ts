import { isDeepStrictEqual } from "node:util";

import { quote, type Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { CallerInputOf, InputOf, Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, type CompositionDefinition } from "./compose-tool.ts";
import { inputForAll, nestSchema, type InputForAll } from "./composed-schemas.ts";
import type { MappedTools, OutputsOf } from "./parallel.ts";
import { toPart, type MappedTool, type Part } from "./part.ts";
import { runPlan, type RunnablePlan, type RunnableStep, type StepScope } from "./run-plan.ts";

/** What {@link branch} takes to decide between two tools. */
export interface BranchDefinition<Input, Use, Otherwise> extends CompositionDefinition {
  readonly when: (input: Input) => boolean | Promise<boolean>;
  readonly use: Use;
  /** @default the output is `null` */
  readonly otherwise?: Otherwise;
}

/** What {@link branch} takes to decide between several tools. */
export interface CasesDefinition<Input, Key, Cases> extends CompositionDefinition {
  /** Answers with the key of the tool that is to run. */
  readonly choose: (input: Input) => Key | Promise<Key>;
  readonly cases: Cases;
}

/** A tool for an input, or one whose input is made out of it. */
export type BranchPart<Input, Mapped, Output> = TypedTool<Input, Output> | MappedTool<[input: Input], Mapped, Output>;

/**
 * Makes a tool that looks at its input and then runs one tool or another.
 *
 * The tool that runs gets the parameters of the input that it has. If they do not fit by themselves, give `input` and write
 * `{ tool, input: (input) => … }`. All of the tools count for the annotations, also those that do not run.
 *
 * @throws {KitbagError} `tool-invalid` if the definition is wrong.
 *
 * @example
 * ```ts
 * import { branch, createWorkspace, defineTool } from "kitbag";
 * import { z } from "zod";
 *
 * const input = z.object({ text: z.string() });
 * const shout = defineTool({ name: "shout", description: "In capitals", input, run: ({ text }) => text.toUpperCase() });
 * const cut = defineTool({ name: "cut", description: "The beginning", input, run: ({ text }) => text.slice(0, 5) });
 * const fit = branch({
 *   name: "fit",
 *   description: "Makes a text fit",
 *   when: ({ text }) => text.length <= 5,
 *   use: shout,
 *   otherwise: cut,
 * });
 * const outcome = await createWorkspace({ tools: [fit] }).call(fit, { text: "wonderful" });
 * console.assert(outcome.status === "ok" && outcome.output === "wonde");
 * ```
 */
export function branch<UseInput, UseOutput, OtherInput = unknown, OtherOutput = null>(
  definition: BranchDefinition<
    UseInput & OtherInput,
    TypedTool<UseInput, UseOutput>,
    TypedTool<OtherInput, OtherOutput>
  > & { readonly input?: never },
): TypedTool<UseInput & OtherInput, UseOutput | OtherOutput>;
export function branch<Schema extends SchemaSource, UseMapped, UseOutput, OtherMapped, OtherOutput = null>(
  definition: BranchDefinition<
    InputOf<Schema>,
    BranchPart<InputOf<Schema>, UseMapped, UseOutput>,
    BranchPart<InputOf<Schema>, OtherMapped, OtherOutput>
  > & { readonly input: Schema },
): TypedTool<CallerInputOf<Schema>, UseOutput | OtherOutput>;
export function branch<Cases extends Readonly<Record<string, Tool>>>(
  definition: CasesDefinition<InputForAll<Cases>, keyof Cases, Cases> & { readonly input?: never },
): TypedTool<InputForAll<Cases>, OutputsOf<Cases>[keyof Cases]>;
export function branch<Schema extends SchemaSource, Inputs, Outputs>(
  definition: CasesDefinition<
    InputOf<Schema>,
    keyof Inputs & keyof Outputs,
    MappedTools<InputOf<Schema>, Inputs, Outputs>
  > & { readonly input: Schema },
): TypedTool<CallerInputOf<Schema>, Outputs[keyof Outputs]>;
export function branch(definition: AnyBranch): Tool {
  const { input, when, use, otherwise, choose, cases, ...rest } = definition;
  const problems: Problem[] = [];
  const isChoice = choose !== undefined || cases !== undefined;
  const given = isChoice ? cases : { use, ...(otherwise !== undefined && { otherwise }) };
  const parts = toCases(given, isChoice ? "cases" : "", problems);
  const decide = isChoice ? choose : when;
  if (typeof decide !== "function") {
    problems.push({ path: isChoice ? "choose" : "when", expected: "a function", found: showValue(decide) });
  }
  return composeTool({
    definition: rest,
    parts: [...parts.values()],
    input: input ?? inputForAll([...parts.values()], problems),
    output: anyOutput([...parts.values()], isChoice || otherwise !== undefined),
    problems,
    run: (value, context) => runPlan(toPlan(), value, context),
  });

  function toPlan(): RunnablePlan {
    const toKey = async ({ input: value }: StepScope): Promise<string> => {
      const decision = await decide?.(value);
      if (!isChoice) return decision ? "use" : "otherwise";
      if (!parts.has(String(decision))) throw unknownCase(String(decision), parts);
      return String(decision);
    };
    const keys = [...parts.keys()];
    return {
      name: rest.name,
      errorCode: "tool-failed",
      steps: [{ label: isChoice ? "choose" : "when", after: [], toInput: toKey }, ...Array.from(parts, toStep)],
      toOutput: ({ values: [key, ...outputs] }) => outputs[keys.indexOf(String(key))] ?? null,
    };
  }
}

/** A step that runs if its key was chosen by the step before all others. */
function toStep([key, { tool, toInput }]: readonly [string, Part]): RunnableStep {
  return {
    ...{ label: key, after: [0], tool },
    when: ({ values }) => values[0] === key,
    toInput: ({ input }) => toInput(input),
  };
}

interface AnyBranch extends CompositionDefinition {
  readonly input?: SchemaSource;
  readonly when?: (input: unknown) => unknown;
  readonly use?: unknown;
  readonly otherwise?: unknown;
  readonly choose?: (input: unknown) => unknown;
  readonly cases?: unknown;
}

function toCases(given: unknown, path: string, problems: Problem[]): ReadonlyMap<string, Part> {
  const cases = new Map<string, Part>();
  const entries = typeof given === "object" && given !== null ? Object.entries(given) : [];
  if (entries.length === 0) problems.push({ path, expected: "an object of tools", found: showValue(given) });
  for (const [key, tool] of entries) {
    const part = toPart(tool, path === "" ? key : `${path}.${key}`, problems);
    if (part !== undefined) cases.set(key, part);
  }
  return cases;
}

/** A schema for the output of any of `parts`; none if one of them has no output schema. */
function anyOutput(parts: readonly Part[], isComplete: boolean): JsonSchema | undefined {
  const schemas: JsonSchema[] = isComplete ? [] : [{ type: "null" }];
  for (const { tool } of parts) {
    if (tool.outputSchema === undefined) return undefined;
    if (!schemas.some((schema) => isDeepStrictEqual(schema, tool.outputSchema))) schemas.push(tool.outputSchema);
  }
  if (schemas.length === 1) return schemas[0];
  return { anyOf: schemas.map((schema, index) => nestSchema(schema, `#/anyOf/${index}`)) };
}

function unknownCase(key: string, parts: ReadonlyMap<string, Part>): Error {
  const [nearest] = nearestNames(key, parts.keys(), 1);
  const cure = nearest === undefined ? "" : `; did you mean ${quote(nearest)}?`;
  return new Error(`it chose ${quote(key)}, and the cases are ${[...parts.keys()].join(", ")}${cure}`);
}
