import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { JsonValue } from "./json.ts";
import type { Permissions } from "./permissions.ts";
import type { SchemaSource } from "./schema/to-schema.ts";
import type { ToolContext } from "./tool-context.ts";
import type { ToolAnnotations, ToolCache, ToolCode, ToolExample, ToolLimits } from "./tool-data.ts";

export type {
  Tool,
  ToolAnnotations,
  ToolAuthor,
  ToolCache,
  ToolCode,
  ToolExample,
  ToolLimits,
  ToolRate,
  TypedTool,
} from "./tool-data.ts";

declare const types: unique symbol;

/** What a value that is injected will be; see {@link injected}. */
export interface Injected<Value> {
  readonly [types]?: Value;
}

/**
 * Says in a tool's `inject` which type a value has that somebody else gives: a connection, a key.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, injected } from "kitbag";
 *
 * const whoAmI = defineTool({
 *   name: "who-am-i",
 *   description: "Tells the user's name",
 *   inject: { user: injected<{ name: string }>() },
 *   run: (_input, { injected: { user } }) => user.name,
 * });
 * const workspace = createWorkspace({ tools: [whoAmI], injected: { user: { name: "Ada" } } });
 * const outcome = await workspace.call("who-am-i", {});
 * console.assert(outcome.status === "ok");
 * ```
 */
export function injected<Value>(): Injected<Value> {
  return {};
}

type AnyInjected = Readonly<Record<string, Injected<unknown>>>;

/** The values behind a tool's `inject`. */
export type InjectedValues<Inject> = {
  readonly [Name in keyof Inject]: Inject[Name] extends Injected<infer Value> ? Value : never;
};

/** The type a tool's code gets for a schema: what its library makes of the input. */
export type InputOf<Schema> =
  Schema extends StandardSchemaV1<unknown, infer Output> ? Output : Readonly<Record<string, JsonValue>>;

/** The type a caller gives for a schema: before defaults and transforms. */
export type CallerInputOf<Schema> =
  Schema extends StandardSchemaV1<infer Input> ? Input : Readonly<Record<string, unknown>>;

/** What an author writes down to make a tool. */
export interface ToolDefinition<
  Input extends SchemaSource,
  Output extends SchemaSource,
  Inject extends AnyInjected,
  Result,
> {
  readonly name: string;
  readonly title?: string;
  /** What it does and when to use it: a model decides by this text. */
  readonly description: string;
  readonly version?: string;
  /** A Standard Schema (zod, valibot, arktype, …) or a JSON Schema, of an object. @default no parameters */
  readonly input?: Input;
  readonly output?: Output;
  readonly annotations?: ToolAnnotations;
  readonly permissions?: Permissions;
  readonly examples?: readonly ToolExample[];
  readonly inject?: Inject;
  readonly needsApproval?: boolean;
  readonly limits?: ToolLimits;
  /** Lets an output be used again for the same input. */
  readonly cache?: ToolCache;
  run(input: InputOf<Input>, context: ToolContext<InjectedValues<Inject>>): Result;
}

/**
 * The output type of a tool: what its output schema says, or else what its code returns. Code that returns nothing has the output
 * `null`; a generator that returns nothing has its chunks.
 */
export type OutputOf<Schema, Result> =
  Schema extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : Result extends AsyncGenerator<unknown, infer Returned> | Generator<unknown, infer Returned>
      ? [Returned] extends [void]
        ? JsonValue
        : Returned
      : NullForNothing<Awaited<Result>>;

type NullForNothing<Value> = Value extends void ? null : Value;

/** The code of a tool that is a function of this process. */
export interface FunctionCode extends ToolCode {
  readonly kind: "function";
  readonly run: (input: unknown, context: ToolContext) => unknown;
}
