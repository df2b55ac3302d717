/**
 * `core`: the contracts of Kitbag (tool, skill, permission, outcome, event, error, store) and pure functions on them. Imports nothing of
 * Node and no other folder. Start here, with what a tool is; then `skill.ts`, `errors.ts`, `store.ts`, and `schema/` for inputs.
 */

import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { FileParameters } from "./call-files.ts";
import type { Progress } from "./events.ts";
import type { JsonValue, JsonObject } from "./json.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { Permissions } from "./permissions.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import type { IsKnownSchema, ReadonlyDeep, ValueOf } from "./schema/schema-types.ts";
import type { SchemaSource, Refine } from "./schema/to-schema.ts";
import type { ToolState } from "./tool-state.ts";

/** What a tool does to the world. `idempotent` (or read-only) is what decides whether it may be run again. */
export interface ToolAnnotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  /** It reaches things outside this machine. */
  readonly openWorld?: boolean;
  /** Its calls may run beside other calls although it changes something: their order does not matter. @default only if it is read-only */
  readonly parallelSafe?: boolean;
}

/** The annotations that a tool may have. */
export const annotationNames: readonly string[] = [
  "readOnly",
  "destructive",
  "idempotent",
  "openWorld",
  "parallelSafe",
];

/** Tells whether calls of a tool may run beside other calls. */
export function isParallelSafe({ parallelSafe, readOnly, destructive }: ToolAnnotations): boolean {
  return parallelSafe ?? (readOnly === true && destructive !== true);
}

/** An input that the tool takes, and the output it gives for it. */
export interface ToolExample {
  readonly description?: string;
  readonly input: JsonObject;
  readonly output?: JsonValue;
}

/** What one call of a tool may use. */
export interface ToolLimits {
  readonly limitMs?: number;
  /** How many calls of it may run at once, in one process. */
  readonly maxConcurrent?: number;
  /** How often it is tried again when it fails; only a tool that is idempotent or read-only may say so. */
  readonly retries?: number;
  /** How often it may be called, by all together. */
  readonly rate?: ToolRate;
}

/** A rate limit: `calls` in `inMs` milliseconds. */
export interface ToolRate {
  readonly calls: number;
  readonly inMs: number;
  /**
   * Makes the limit a token bucket: after a pause, `burst` calls may come at once, and further calls at an even pace. @default a sliding
   * window: at most `calls` in any period of `inMs`; if `calls` is more than 100, about that many
   */
  readonly burst?: number;
}

/** How long an output may be used again for the same input. */
export interface ToolCache {
  /** In milliseconds. */
  readonly ttlMs: number;
  /** What of the checked input decides. @default all of it */
  readonly key?: (input: JsonObject) => JsonValue;
  /** Words by which `workspace.forgetOutputs` finds them. */
  readonly tags?: readonly string[];
  /**
   * A parameter whose text may be asked in other words. An output is used again if both texts have the same content words, numbers and
   * negations in the same order, all other parameters are equal, and the workspace's `embedder` puts the texts at least `threshold` near
   * (the cosine, 0.8 unless given). @default only an equal input gets it
   */
  readonly similar?: { readonly parameter: string; readonly threshold?: number };
  /** Who gets them: the user who made the first call (of a tool with `inject` only in this workspace), or all users. @default "user" */
  readonly scope?: "user" | "everybody";
}

/** How a tool's code is reached; only the runtime of its kind looks inside. */
export interface ToolCode {
  readonly kind: string;
}

/** Who made a tool while Kitbag ran, and which scopes they had then. */
export interface ToolAuthor {
  /** @default the person who runs Kitbag here */
  readonly user?: string;
  readonly scopes: "all" | readonly string[];
  /** The user for whom alone it is there, and who alone may change it. @default the local user's: it is there for every user */
  readonly owner?: string;
  /** Whether it is there for every user although it has an owner. @default false */
  readonly shared?: boolean;
}

/** What a tool is. Data only: there is no way to run one but `workspace.call`. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolAnnotations;
  readonly permissions: Permissions;
  /** The parameters that name files: what a caller names there is given to that call. @default none */
  readonly files?: FileParameters;
  readonly examples: readonly ToolExample[];
  /** The names of the values it needs that the model never sees. */
  readonly inject: readonly string[];
  /** Each call needs an approval. */
  readonly needsApproval: boolean;
  readonly limits: ToolLimits;
  /** @default no output is used again */
  readonly cache?: ToolCache;
  /** What the author's own schema library checks and changes beyond JSON Schema. */
  readonly refine?: Refine;
  readonly code: ToolCode;
  /** The addresses of the tools that its code calls. Only for a tool outside skills: a skill declares them for its tools. @default none */
  readonly uses?: readonly string[];
  /** It works on the tools themselves: runs programs, makes, changes, opens, imports. Code in a sandbox cannot call it. @default false */
  readonly meta?: boolean;
  /** Of a tool that was made here: its calls are held to what its author may call. @default it was not made here */
  readonly author?: ToolAuthor;
}

declare const toolTypes: unique symbol;

/** A tool whose input and output types the compiler remembers. Everything in Kitbag takes it as a plain {@link Tool}. */
export interface TypedTool<Input, Output> extends Tool {
  /** Only for the compiler: there is no such property. */
  readonly [toolTypes]?: (input: Input) => Output;
}

/** What a tool gets beside its input. */
export interface ToolContext<Injected = Readonly<Record<string, unknown>>> {
  /** The id of this call. */
  readonly id: string;
  /** Aborted at the deadline and when the caller cancels; pass it on to whatever takes one. */
  readonly signal: AbortSignal;
  /** The values that the tool declared with `inject`; the model never sees them. */
  readonly injected: Injected;
  /** Who made the outermost call, as `CallOptions.user` says; nothing if it says nothing. */
  readonly user?: string | undefined;
  /** What the tool keeps for itself and this user from one call to the next. */
  readonly state: ToolState;
  /**
   * The state that the tools of one skill, or of one component, share for this user. A tool of the workspace itself shares with no
   * other tool: for it, this is the same as `state`.
   */
  readonly skillState: ToolState;
  /** Tells how far the work is. */
  progress(progress: string | Progress): void;
  /**
   * Logs something about the work, for people who watch or debug; the model does not see it. Never throws: a text
   * is cut at 10,000 characters, data that is no JSON or more than 64 KiB is only described.
   */
  log(message: string, data?: JsonValue): void;
  /**
   * Says that this call has cost so much, or so much more: a paid service, a model. In US dollars; what is no cost does not count.
   * The call's end tells the sum, without the calls inside it, and so do the stats of its tool and skill.
   */
  spend(costUsd: number): void;
  /**
   * Calls another tool, through the same checks as all calls, on behalf of the outermost caller; it is cancelled with this one. Never
   * throws.
   */
  call<Input, Output>(
    tool: TypedTool<Input, Output>,
    input: Input,
    options?: InsideOptions,
  ): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown, options?: InsideOptions): Promise<ToolOutcome>;
  /** The tools that are available now in the workspace or the session of the call, and that its caller may call. */
  availableTools(): readonly { readonly address: string; readonly tool: Tool }[];
}

/** What may be said with a call inside another one. */
export interface InsideOptions {
  /** Cancels it before the call around it is over. */
  readonly signal?: AbortSignal;
}

/** What a generator may yield to tell progress, beside chunks of its output. */
export class ProgressMark {
  readonly progress: Progress;

  constructor(progress: Progress) {
    this.progress = progress;
  }
}

/**
 * Makes a value that a generator tool yields to tell progress. Everything else that it yields is a chunk of its output.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineTool, progress } from "kitbag";
 *
 * const count = defineTool({
 *   name: "count",
 *   description: "Counts to three, out loud",
 *   async *run() {
 *     yield progress({ done: 0, total: 3 });
 *     yield "one two three";
 *     return 3;
 *   },
 * });
 * const outcome = await createWorkspace({ tools: [count] }).call("count", {});
 * console.assert(outcome.status === "ok" && outcome.output === 3);
 * ```
 */
export function progress(state: string | Progress): ProgressMark {
  return new ProgressMark(typeof state === "string" ? { message: state } : state);
}

declare const injectedValue: unique symbol;

/** What a value that is injected will be; see {@link injected}. */
export interface Injected<Value> {
  readonly [injectedValue]?: Value;
}

/**
 * Says in a tool's `inject` which type an injected value has: a connection, a key.
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
  Schema extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : IsKnownSchema<Schema> extends true
      ? ValueOf<Schema>
      : Readonly<Record<string, JsonValue>>;

/** The type a caller gives for a schema: before defaults and transforms. */
export type CallerInputOf<Schema> =
  Schema extends StandardSchemaV1<infer Input>
    ? Input
    : IsKnownSchema<Schema> extends true
      ? ValueOf<Schema, "given">
      : Readonly<Record<string, unknown>>;

/** What an output schema says of the output; `unknown` if the compiler does not know its text. */
type DeclaredOutput<Schema> =
  Schema extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : IsKnownSchema<Schema> extends true
      ? ValueOf<Schema>
      : unknown;

/** What the code of a tool may return: what its output schema says, itself, as a promise or as the return value of a generator. */
export type ResultOf<Schema> = unknown extends DeclaredOutput<Schema> ? unknown : Returned<DeclaredOutput<Schema>>;

type Returned<Output> =
  | ReadonlyDeep<Output>
  | Promise<ReadonlyDeep<Output>>
  | Generator<unknown, ReadonlyDeep<Output> | void>
  | AsyncGenerator<unknown, ReadonlyDeep<Output> | void>;

/** A call of a tool and what comes of it, of the types of its schemas. */
export interface TypedExample<Input, Output> {
  readonly description?: string;
  readonly input: Input;
  readonly output?: Output;
}

type ExampleInput<Schema> = SchemaSource extends Schema ? JsonObject : ReadonlyDeep<CallerInputOf<Schema>>;

type ExampleOutput<Schema> = unknown extends DeclaredOutput<Schema> ? JsonValue : ReadonlyDeep<DeclaredOutput<Schema>>;

/** What an author writes down to make a tool. */
export interface ToolDefinition<
  Input extends SchemaSource,
  Output extends SchemaSource,
  Inject extends AnyInjected,
  Result extends ResultOf<Output>,
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
  readonly examples?: readonly TypedExample<ExampleInput<Input>, ExampleOutput<Output>>[];
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
  unknown extends DeclaredOutput<Schema>
    ? Result extends AsyncGenerator<unknown, infer Returned> | Generator<unknown, infer Returned>
      ? [Returned] extends [void]
        ? JsonValue
        : Returned
      : NullForNothing<Awaited<Result>>
    : DeclaredOutput<Schema>;

type NullForNothing<Value> = Value extends void ? null : Value;

/** The code of a tool that is a function of this process. */
export interface FunctionCode extends ToolCode {
  readonly kind: "function";
  readonly run: (input: unknown, context: ToolContext) => unknown;
}
