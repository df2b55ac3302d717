import type { JsonObject, JsonValue } from "./json.ts";
import type { Permissions } from "./permissions.ts";
import type { JsonSchema } from "./schema/json-schema.ts";
import type { Refine } from "./schema/to-schema.ts";

/** What a tool does to the world. `idempotent` (or read-only) is what decides whether it may be run again. */
export interface ToolAnnotations {
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  /** It reaches things outside this machine. */
  readonly openWorld?: boolean;
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

/** So many calls in so much time. */
export interface ToolRate {
  readonly calls: number;
  readonly inMs: number;
  /**
   * So many calls may come at once, after a pause; the rest evenly: a token bucket. @default any stretch of time as long as `inMs`
   * has at most `calls` of them, or about that many if they are more than 100: a sliding window
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
  /** For whom they are used again: who asked (of a tool with `inject` only in this workspace), or everybody. @default "user" */
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
  readonly examples: readonly ToolExample[];
  /** The names of the values it needs that the model never sees. */
  readonly inject: readonly string[];
  /** Nothing runs without somebody's approval. */
  readonly needsApproval: boolean;
  readonly limits: ToolLimits;
  /** @default no output is used again */
  readonly cache?: ToolCache;
  /** What the author's own schema library checks and changes beyond JSON Schema. */
  readonly refine?: Refine;
  readonly code: ToolCode;
  /** The addresses of the tools that its code calls. Only for a tool outside skills: the tools of a skill have those of the skill. @default none */
  readonly uses?: readonly string[];
  /** It works on the tools themselves: runs programs, makes, changes, opens, imports. Code in a sandbox cannot call it. @default false */
  readonly meta?: boolean;
  /** Of a tool that was made here: its calls are held to what its author may call. @default it was not made here */
  readonly author?: ToolAuthor;
}

declare const types: unique symbol;

/** A tool whose input and output types the compiler remembers. Everything in Kitbag takes it as a plain {@link Tool}. */
export interface TypedTool<Input, Output> extends Tool {
  /** Only for the compiler: there is no such property. */
  readonly [types]?: (input: Input) => Output;
}
