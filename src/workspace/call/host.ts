import type { FilePolicy } from "../../core/call-files.ts";
import type { Embedder } from "../../core/embedder.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Guard } from "../../core/guards.ts";
import type { PatternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ScopesOf } from "../../core/scopes.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { Audit } from "../../records/audit/open-audit.ts";
import type { CallRecorder } from "../../records/stats/call-records.ts";
import type { Breakers, RetryPolicy } from "../failures/retry-policy.ts";
import type { OutputKeeper } from "../outputs/output-keeper.ts";
import type { SharedRun, OutputCache } from "../recall/output-cache.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { Rates } from "../rates/rates.ts";
import type { Registry } from "../registry/registry.ts";
import type { RunningCalls } from "../skills/running-calls.ts";
import type { SkillSet } from "../skills/skill-set.ts";
import type { States } from "../state/create-states.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Telemetry } from "../telemetry/tracing.ts";
import type { Users } from "../users.ts";
import type { WorkspaceLimits } from "../options/limits.ts";
import type { Approve } from "./call-options.ts";
import type { InjectedSource } from "../registry/registered-tool.ts";
import type { Slots } from "./slots.ts";
import type { QuotaPlaces, UserPlaces } from "./user-places.ts";

/** What the phases need of the workspace that a call happens in. */
export interface CallHost {
  readonly registry: Registry;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly limits: WorkspaceLimits;
  readonly injected: InjectedSource | undefined;
  readonly approve: Approve | undefined;
  /** What is done when a model names a file. */
  readonly files: FilePolicy;
  readonly guards: readonly Guard[];
  readonly redactor: Redactor | undefined;
  /** Takes out of the records what is not taken out of everything. */
  readonly recordRedactor: PatternRedactor | undefined;
  readonly store: Store | undefined;
  /** Records calls in the store, if there is one. */
  readonly calls: CallRecorder | undefined;
  readonly audit: Audit | undefined;
  /** Of the store, or in memory without one. */
  readonly kv: KeyValueStore;
  readonly outputs: OutputKeeper;
  readonly cache: OutputCache;
  /** Compares texts by what they say; there is one if a tool needs it. */
  readonly embedder: Embedder | undefined;
  /** Calls whose outcome others wait for, by the key of the cache. */
  readonly sharedRuns: Map<string, Promise<SharedRun>>;
  readonly states: States;
  /** Who owns what users keep. */
  readonly users: Users;
  readonly slots: Slots;
  readonly userPlaces: UserPlaces;
  readonly quotas: Quotas;
  readonly quotaPlaces: QuotaPlaces;
  /** Tools that cost money: they have said so in this process. */
  readonly paidTools: WeakSet<Tool>;
  readonly rates: Rates;
  /** Of tools that may be run again and fail. */
  readonly retries: Required<RetryPolicy>;
  readonly breakers: Breakers | undefined;
  /** Whether calls that failed for good are kept. */
  readonly keepsFailed: boolean;
  /** How many calls wait for a place or a limit. */
  waiting: number;
  /** Whether the store kept the last beginning of a call. */
  isStoreWorking: boolean;
  readonly runningCalls: RunningCalls;
  readonly skills: SkillSet;
  /** The scopes that users have now. */
  readonly scopesOf: ScopesOf | undefined;
  readonly telemetry: Telemetry;
  readonly meter: Meter;
  nextId(): string;
  isHeard(): boolean;
  tell(event: CallEvent): void;
}
