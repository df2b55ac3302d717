import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Guard } from "../core/guards.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { RedactionKind } from "../core/redaction/rules.ts";
import type { SchemaSource } from "../core/schema/to-schema.ts";
import type { ScopesOf } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import type { ImageSource } from "../models/images/to-image-part.ts";
import type { Model, ModelCall, ModelMessage } from "../models/model.ts";
import type { OwnPrices } from "../models/prices/own-prices.ts";
import type { RetryOptions } from "../models/retry/with-retries.ts";
import type { Sealer } from "../records/audit/audit-keys.ts";
import type { Approve } from "../workspace/call/call-options.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentEvent, RunLimits } from "./events.ts";
import type { AgentHooks } from "./hooks.ts";
import type { MemoryOptions } from "./memory/memory-options.ts";
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

/** What {@link createAgent} takes. */
export interface AgentOptions {
  /** A model, or the name of one: `"anthropic/…"`, `"local"`. */
  readonly model: Model | string;
  readonly workspace: Workspace;
  /** What the agent is and how it behaves: the beginning of the system text. */
  readonly instructions?: string;
  /** Where runs are kept, so that they survive a crash. @default nowhere */
  readonly store?: Store;
  /**
   * The audit of the store. Decisions about waiting calls are sealed with its key, and a resumed run asks again about decisions
   * that are not sealed. @default none: every process that can write to the store can decide
   */
  readonly audit?: Sealer;
  /**
   * The scopes that a user has now: every call of a run is held to those of the run's user, also when another process goes on with it.
   * @default every tool
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
  /** How long a conversation may become, and what stays of it. @default as long as the model takes */
  readonly memory?: MemoryOptions;
  /**
   * Whether what looks like a secret or like personal data is taken out of tasks and of what comes of calls, before the model sees it
   * and it is written down: everything (`true`), some kinds, or nothing. @default false
   */
  readonly redactInput?: InputRedaction;
  /**
   * What looks at tasks, at what tools are called with, at what comes of calls and at answers, in order: each may let it pass, take
   * something out, put something else in its place, refuse it, or have a person asked. @default none
   */
  readonly guards?: readonly Guard[];
  /**
   * Decides on every call, as that of a workspace does. @default a call that needs an approval pauses the run, if there is a store;
   * without one it is denied
   */
  readonly approve?: Approve;
}

/** A task: text, or messages. */
export type Task = string | readonly ModelMessage[];

/** What comes of a run whose answer must be like a schema: what the schema's library makes of it, or JSON. */
export type OutputOf<Schema extends SchemaSource> =
  Schema extends StandardSchemaV1<unknown, infer Output> ? (unknown extends Output ? JsonValue : Output) : JsonValue;

/** What may be said about one run. */
export interface RunOptions<Schema extends SchemaSource = SchemaSource> {
  /** @default made up */
  readonly id?: string;
  /**
   * The conversation that it goes on with: it is kept in the store under this name. Runs at the same time do not see each other, and
   * are all kept, in the order in which they ended.
   */
  readonly conversation?: string;
  readonly model?: Model | string;
  readonly limits?: Partial<RunLimits>;
  readonly settings?: ModelSettings;
  readonly hooks?: AgentHooks;
  readonly signal?: AbortSignal;
  /** Skills that are open from the beginning. */
  readonly skills?: readonly string[];
  /** What the answer must be like: a JSON Schema, or a schema of zod, valibot, arktype. @default text */
  readonly output?: Schema;
  /** Pictures that belong to the task: paths, URLs or bytes, the same for every model. */
  readonly images?: readonly ImageSource[];
  /** For the records, limits and approvals, and for `scopesOf`. A run that goes on stays that of the user who began it. */
  readonly user?: string;
  /** The trace that it belongs to, as the W3C headers of these names say it. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** Told every event, at once. One that throws changes nothing: the run goes on. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Told every piece of the model's text, at once. */
  readonly onText?: (text: string) => void;
  readonly approve?: Approve;
}

/** What a run that is gone on with, or made from another, has already. */
export type KeptOption = "id" | "conversation" | "skills" | "images";

/** A decision about a call that waits. */
export interface Decision {
  readonly decision: "approve" | "deny";
  readonly reason?: string;
  readonly input?: JsonValue;
  readonly user?: string;
}
