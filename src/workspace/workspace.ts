import type { CallEvent } from "../core/events.ts";
import type { Guard } from "../core/guards.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ScopesOf } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import type { Skill } from "../core/skill.ts";
import type { ToolState } from "../core/tool-state.ts";
import type { Tool } from "../core/tool.ts";
import type { Audit } from "../records/audit/open-audit.ts";
import type { CallStats } from "../records/stats/call-stats.ts";
import type { CallMethods } from "./call-methods.ts";
import type { Approve } from "./call/approval.ts";
import type { InjectedSource } from "./call/injection.ts";
import type { Middleware, UseOptions } from "./call/middleware.ts";
import type { WorkspaceLimits } from "./limits.ts";
import type { BreakerOptions } from "./failures/breakers.ts";
import type { RetryPolicy } from "./failures/retry-policy.ts";
import type { QuotaOptions } from "./quotas/quota-options.ts";
import type { Quotas } from "./quotas/quotas.ts";
import type { RateLimit } from "./rates/rate-limit.ts";
import type { ForgetOptions } from "./recall/output-cache.ts";
import type { RedactionOptions } from "./redaction.ts";
import type { Session } from "./sessions/session.ts";
import type { SkillMethods } from "./skills/skill-methods.ts";
import type { TelemetryOptions } from "./telemetry/telemetry-options.ts";
import type { ToolComponent, ToolMethods } from "./tool-methods.ts";

export type { AddOptions, ToolComponent } from "./tool-methods.ts";

/** What {@link createWorkspace} takes. */
export interface WorkspaceOptions {
  readonly tools?: Iterable<Tool>;
  readonly components?: Iterable<ToolComponent>;
  /** Added closed: open them with `activateSkill`. */
  readonly skills?: Iterable<Skill>;
  readonly runtimes?: Iterable<Runtime>;
  readonly limits?: Partial<WorkspaceLimits>;
  /** How often tools may be called; with a store, all processes that share it count together. @default as often as one likes */
  readonly rates?: Iterable<RateLimit>;
  /** How much each user may use, by the day and at once; counted in the store, which is needed. @default as much as one likes */
  readonly quotas?: QuotaOptions;
  /** How often a failing tool is tried again, if it may be. @default never, unless the tool says so */
  readonly retries?: RetryPolicy;
  /** When a tool that fails is taken out for a while. @default never */
  readonly breaker?: BreakerOptions;
  /** Whether calls from outside that failed because of their tool are kept, for `openDeadLetters`. @default false */
  readonly keepFailed?: boolean;
  /** Values for the tools' `inject`, or a function that makes them for one call. */
  readonly injected?: InjectedSource;
  /** Texts that no outcome and no event may show, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Asked before each call, nested ones too. */
  readonly approve?: Approve;
  /**
   * Where events, large outputs and what tools keep are kept. @default nowhere: events go to subscribers only, large outputs and
   * what tools keep to memory
   */
  readonly store?: Store;
  /** Where every call is recorded, so that nobody can change it unseen. @default nowhere */
  readonly audit?: Audit;
  /** Another name of the local user, beside `"local"`: who keeps what calls without a user keep. @default none */
  readonly localUser?: string;
  /** The scopes that a user has now, for calls of tools that this user made. @default those of when the tool was made */
  readonly scopesOf?: ScopesOf;
  /**
   * Look at what every tool is called with and what comes of it (`tool-input`, `tool-output`), also where a tool calls another. What a tool
   * says piece by piece is then not told on the way.
   */
  readonly guards?: readonly Guard[];
  readonly redaction?: RedactionOptions;
  readonly telemetry?: TelemetryOptions;
}

/** What holds tools, knows where each comes from, and is the only way to call one. */
export interface Workspace extends ToolMethods, SkillMethods, CallMethods {
  /**
   * Calls `listener` with each skill that is opened, here or in a session, and with the new version of one that is open; answers with the
   * function that ends it.
   */
  onOpen(listener: (skill: Skill) => void): () => void;
  /**
   * Calls `listener` with the names of skills that were added, replaced or removed, open or not; answers with the function that ends
   * it. What their tools do to the list of available tools is told by `onChange`.
   */
  onSkillsChange(listener: (names: readonly string[]) => void): () => void;
  /** Calls `listener` with every event of every call; answers with the function that ends it. */
  onEvent(listener: (event: CallEvent) => void): () => void;
  /**
   * Puts a middleware before a phase, after those that are there already; answers with the function that takes it out. Without
   * `before` it sees the call first and its outcome last, before it is redacted, capped and recorded.
   */
  use(middleware: Middleware, options?: UseOptions): () => void;
  /** Opens a session: a view of this workspace with open skills of its own. It begins with what is open here. Close it. */
  openSession(): Session;

  /**
   * Opens what a tool keeps from one call to the next for a user, for those who look after it. @default the local user's
   *
   * @throws {KitbagError} `tool-not-found`, `tool-ambiguous` or `address-invalid` if there is no such tool.
   */
  openState(address: string, options?: { readonly user?: string | undefined }): ToolState;

  /** What users may use, for those who make models answer or keep things for a user. */
  readonly quotas: Quotas;

  /** Who owns what a user keeps here: nothing for the local user, whatever name they have. */
  ownerOf(user: string | undefined): string | undefined;

  /**
   * Forgets outputs that are kept to be used again (a tool's `cache`): those of one tool, of one version, with one tag, what is
   * all of that, or every one. Answers how many. Other processes that share the store may use theirs for one second more.
   */
  forgetOutputs(which?: ForgetOptions): Promise<number>;
  /**
   * Counts of the calls since the workspace was made, nested ones too, with how long they took: in all, by tool and by owner. They
   * are of this process; `readCallStats` reads those of all processes that share a store.
   */
  stats(): CallStats;
}
