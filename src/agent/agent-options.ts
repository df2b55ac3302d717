import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Guard } from "../core/guards.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { RedactionKind } from "../core/redaction/rules.ts";
import type { SchemaSource } from "../core/schema/to-schema.ts";
import type { ScopesOf } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import type { ImageSource, NamedImage } from "../models/images/to-image-part.ts";
import type { Model, ModelCall, ModelMessage } from "../models/model.ts";
import type { OwnPrices } from "../models/prices/own-prices.ts";
import type { RetryOptions } from "../models/retry/with-retries.ts";
import type { Sealer } from "../records/audit/audit-keys.ts";
import type { Approve } from "../workspace/call/call-options.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentEvent, RunLimits } from "./events.ts";
import type { AgentHooks } from "./hooks.ts";
import type { MemoryOptions } from "./memory/memory-options.ts";
import type { AnswerCacheOptions } from "./run/answer-cache.ts";
import type { AgentTelemetryOptions } from "./telemetry/model-metrics.ts";

export type { RunLimits } from "./events.ts";

/** How a model sees the tools of skills that are opened; see `docs/guide/agents.md`. */
export type ExposureName = "direct" | "announce" | "dispatch" | "auto";

/** What of a model's input looks like a secret or like personal data: everything (`true`), some kinds, or nothing. */
export type InputRedaction = boolean | readonly RedactionKind[];

/** What may be said about every question to the model. */
export interface ModelSettings extends Pick<
  ModelCall,
  "temperature" | "maxOutputTokens" | "reasoning" | "seed" | "topP" | "topK" | "headers" | "providerOptions"
> {
  readonly stop?: readonly string[];
}

/** Options of {@link createAgent}. */
export interface AgentOptions {
  /** A model, or the name of one: `"anthropic/…"`, `"local"`. */
  readonly model: Model | string;
  readonly workspace: Workspace;
  /** The agent's role and behaviour: the beginning of the system text. */
  readonly instructions?: string;
  /** Where runs are kept, so that they survive a crash. @default none: runs are lost when the process ends */
  readonly store?: Store;
  /**
   * The audit of the store. Decisions about waiting calls are sealed with its key, and a resumed run asks again about decisions
   * that are not sealed. @default none: every process that can write to the store can decide
   */
  readonly audit?: Sealer;
  /**
   * The current scopes of a user. Every call of a run is limited to the scopes of the run's user, also after another process resumes
   * the run. @default every tool
   */
  readonly scopesOf?: ScopesOf;
  /** Kept with every run for the caller that resumes it: where its tools came from, for example. The agent itself does not read it. */
  readonly origin?: JsonObject;
  /** How long after the death of the process that worked on a run other processes cannot resume it. @default 10,000 */
  readonly leaseMs?: number;
  /** Prices of your own, by `provider/model`: they override the known prices. */
  readonly prices?: OwnPrices;
  readonly limits?: Partial<RunLimits>;
  readonly settings?: ModelSettings;
  /** @default "auto" */
  readonly exposure?: ExposureName;
  /** What OpenTelemetry is told about runs. @default spans and metrics without contents, if the application registered a provider */
  readonly telemetry?: AgentTelemetryOptions;
  readonly hooks?: AgentHooks;
  /** How often and when the model is asked again after an error. @default as `withRetries` does */
  readonly retries?: RetryOptions | false;
  /**
   * Gives the answer of before to a question that says the same in other words: of the same user, model, instructions, tools and their
   * versions, and settings. Only for the first question of a conversation that is answered without a tool. @default the model is asked
   */
  readonly cache?: AnswerCacheOptions;
  /** How long a conversation may become, and what is kept of it. @default the context window of the model */
  readonly memory?: MemoryOptions;
  /**
   * Whether likely secrets and personal data are redacted in tasks and results of calls, before the model sees them and before they
   * are written to the journal: all kinds (`true`), some kinds, or none (`false`). @default false
   */
  readonly redactInput?: InputRedaction;
  /**
   * Guards check tasks, inputs and results of calls, and answers, in order: each guard may accept, redact, replace or refuse the
   * content, or require an approval. @default none
   */
  readonly guards?: readonly Guard[];
  /**
   * Approves or denies every call, like `approve` of a workspace. @default a call that needs an approval pauses the run; without a
   * store, the call is denied
   */
  readonly approve?: Approve;
}

/** A task: text, or messages. */
export type Task = string | readonly ModelMessage[];

/** The output type of a run with an output schema: the output type of the schema's library, or JSON. */
export type OutputOf<Schema extends SchemaSource> =
  Schema extends StandardSchemaV1<unknown, infer Output> ? (unknown extends Output ? JsonValue : Output) : JsonValue;

/** Options of one run. */
export interface RunOptions<Schema extends SchemaSource = SchemaSource> {
  /** @default a random id */
  readonly id?: string;
  /**
   * The conversation to continue, which is kept in the store under this name. Concurrent runs do not see each other's messages; all
   * of them are kept, in the order in which the runs ended.
   */
  readonly conversation?: string;
  readonly model?: Model | string;
  readonly limits?: Partial<RunLimits>;
  readonly settings?: ModelSettings;
  readonly hooks?: AgentHooks;
  readonly signal?: AbortSignal;
  /** Skills that are open from the beginning. */
  readonly skills?: readonly string[];
  /** The schema of the answer: a JSON Schema, or a schema of zod, valibot or arktype. @default text */
  readonly output?: Schema;
  /**
   * Images of the task: paths, URLs or bytes, in the same form for every model. Several are labelled in order, with their names: "Image 1
   * (a.png):".
   */
  readonly images?: readonly (ImageSource | NamedImage)[];
  /** The user, for the records, limits and approvals, and for `scopesOf`. A resumed run keeps the user who began it. */
  readonly user?: string;
  /** The trace of the caller, as in the W3C headers of these names. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** Called with every event, at once. If it throws, the run continues. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Called with every piece of the model's text, at once. */
  readonly onText?: (text: string) => void;
  readonly approve?: Approve;
}

/** Options that a resumed or forked run already has. */
export type KeptOption = "id" | "conversation" | "skills" | "images";

/** A decision about a call that waits for approval. */
export interface Decision {
  readonly decision: "approve" | "deny";
  readonly reason?: string;
  readonly input?: JsonValue;
  readonly user?: string;
}
