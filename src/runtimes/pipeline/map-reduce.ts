import type { Problem } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { SchemaSource } from "../../core/schema/to-schema.ts";
import type { CallerInputOf, InputOf, Tool, TypedTool } from "../../core/tool.ts";
import { composeTool, type CompositionDefinition } from "./compose-tool.ts";
import { nestSchema } from "./composed-schemas.ts";
import { toPart, type MappedTool, type Part } from "./part.ts";
import { runPlan, type RunnableStep } from "./run-plan.ts";

/** What puts the outputs together: a tool for `{ items }`, a tool whose input is made out of them, or a function. */
export type Reduce<Input, Mapped, ReduceInput, Output> =
  | TypedTool<{ readonly items: readonly Mapped[] }, Output>
  | MappedTool<[outputs: readonly Mapped[], input: Input], ReduceInput, Output>
  | ((outputs: readonly Mapped[], input: Input) => Output | Promise<Output>);

/** What bounds a {@link mapReduce}. */
export interface MapReduceBounds {
  /** How many items are worked on at once. @default 8 */
  readonly maxConcurrent?: number;
  /** How many items there may be. @default 10000 */
  readonly maxItems?: number;
  /** What a function that puts the outputs together answers. @default the schema of the tool that does it */
  readonly output?: SchemaSource;
}

/** What {@link mapReduce} takes if its input is `{ items }`. */
export interface MapReduceDefinition<Item, Mapped, ReduceInput, Output> extends CompositionDefinition, MapReduceBounds {
  readonly input?: never;
  readonly items?: never;
  readonly map: TypedTool<Item, Mapped>;
  readonly reduce: Reduce<{ readonly items: readonly Item[] }, Mapped, ReduceInput, Output>;
}

/** What {@link mapReduce} takes if it has an input of its own. */
export interface MappedMapReduceDefinition<Schema extends SchemaSource, Item, MapInput, Mapped, ReduceInput, Output>
  extends CompositionDefinition, MapReduceBounds {
  readonly input: Schema;
  readonly items: (input: InputOf<Schema>) => readonly Item[] | Promise<readonly Item[]>;
  readonly map:
    | TypedTool<Item, Mapped>
    | MappedTool<[item: Item, index: number, input: InputOf<Schema>], MapInput, Mapped>;
  readonly reduce: Reduce<InputOf<Schema>, Mapped, ReduceInput, Output>;
}

/**
 * Makes a tool that runs a tool on every item of a list, several at once, and puts the outputs together.
 *
 * By itself it takes `{ items }`, each an input of `map`; with `input` and `items` it takes what you like. The outputs come in
 * the order of the items. One that fails makes the whole fail at once, with `step-failed`, and no further one is started.
 *
 * @throws {KitbagError} `tool-invalid` if the definition is wrong.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, mapReduce } from "kitbag";
 * import { z } from "zod";
 *
 * const square = defineTool({
 *   name: "square",
 *   description: "Squares a number",
 *   input: z.object({ number: z.number() }),
 *   run: ({ number }) => number * number,
 * });
 * const sumOfSquares = mapReduce({
 *   name: "sum-of-squares",
 *   description: "Adds up the squares of numbers",
 *   input: z.object({ numbers: z.array(z.number()) }),
 *   items: ({ numbers }) => numbers,
 *   map: { tool: square, input: (number) => ({ number }) },
 *   reduce: (squares) => squares.reduce((sum, next) => sum + next, 0),
 * });
 * const outcome = await createWorkspace({ tools: [sumOfSquares] }).call(sumOfSquares, { numbers: [1, 2, 3] });
 * console.assert(outcome.status === "ok" && outcome.output === 14);
 * ```
 */
export function mapReduce<Item, Mapped, ReduceInput, Output>(
  definition: MapReduceDefinition<Item, Mapped, ReduceInput, Output>,
): TypedTool<{ readonly items: readonly Item[] }, Output>;
export function mapReduce<Schema extends SchemaSource, Item, MapInput, Mapped, ReduceInput, Output>(
  definition: MappedMapReduceDefinition<Schema, Item, MapInput, Mapped, ReduceInput, Output>,
): TypedTool<CallerInputOf<Schema>, Output>;
export function mapReduce(definition: AnyMapReduce): Tool {
  const { input, output, items, map: givenMap, reduce, maxConcurrent = 8, maxItems = 10_000, ...rest } = definition;
  const problems = [...checkBounds({ maxConcurrent, maxItems }), ...checkItems(definition)];
  const map = toPart(givenMap, "map", problems);
  const reducer = typeof reduce === "function" ? undefined : toPart(reduce, "reduce", problems);
  const mapStep: RunnableStep = {
    ...{ label: "map", after: [], ...(map !== undefined && { tool: map.tool }) },
    list: {
      ...{ label: "items", prefix: "", maxItems, maxConcurrent, isFiltered: false, reportsItems: true },
      toItems: ({ input: value }) => (items ?? getItems)(value),
    },
    toInput: ({ input: value, each }) => map?.toInput(each?.item, each?.index, value),
  };
  return composeTool({
    definition: rest,
    parts: [map, reducer].filter((part) => part !== undefined),
    input: input ?? itemsSchema(map, maxItems),
    output: output ?? reducer?.tool.outputSchema,
    problems,
    run(value, context) {
      const steps = [mapStep, toReduceStep(reduce, reducer)];
      return runPlan({ name: rest.name, errorCode: "tool-failed", steps }, value, context);
    },
  });
}

function toReduceStep(reduce: unknown, reducer: Part | undefined): RunnableStep {
  const step = { label: "reduce", after: [0] };
  if (reducer === undefined) {
    const run = reduce as (outputs: unknown, input: unknown) => unknown;
    return { ...step, toInput: ({ values: [outputs], input }) => run(outputs, input) };
  }
  const { tool, isMapped, toInput } = reducer;
  return {
    ...{ ...step, tool },
    toInput: ({ values: [items], input }) => (isMapped ? toInput(items, input) : toInput({ items })),
  };
}

interface AnyMapReduce extends CompositionDefinition, MapReduceBounds {
  readonly input?: SchemaSource;
  readonly items?: (input: unknown) => unknown;
  readonly map: unknown;
  readonly reduce: unknown;
}

function checkBounds(bounds: Required<Pick<MapReduceBounds, "maxConcurrent" | "maxItems">>): Problem[] {
  return Object.entries(bounds)
    .filter(([, value]) => !Number.isSafeInteger(value) || value < 1)
    .map(([path, value]) => ({ path, expected: "a whole number from 1", found: showValue(value) }));
}

function checkItems({ input, items, map }: AnyMapReduce): Problem[] {
  if (items !== undefined && typeof items !== "function") {
    return [{ path: "items", expected: "a function that takes the list out of the input", found: showValue(items) }];
  }
  const isMapped = typeof map === "object" && map !== null && "tool" in map && "input" in map;
  if (input === undefined && (isMapped || items !== undefined)) {
    return [{ path: "input", expected: "a schema, because the input of the tool is made", found: "nothing" }];
  }
  return [];
}

function itemsSchema(map: Part | undefined, maxItems: number): JsonSchema {
  const items = { type: "array", items: nestSchema(map?.tool.inputSchema, "#/properties/items/items"), maxItems };
  return { type: "object", properties: { items }, required: ["items"] };
}

function getItems(input: unknown): unknown {
  return typeof input === "object" && input !== null && "items" in input ? input.items : undefined;
}
