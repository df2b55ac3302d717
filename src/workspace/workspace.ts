/**
 * `workspace/`: which tools exist now, who owns them, which skills are open, and `call`, phase by phase (`call/`, one file a phase). May
 * import skills, runtimes, models, records and what is below them. Start with this interface, then `create-workspace.ts` and
 * `call/chain.ts`.
 */
import type { CallEvent, ToolSource } from "../core/events.ts";
import type { FilePolicy } from "../core/call-files.ts";
import type { Guard } from "../core/guards.ts";
import type { Runtime } from "../core/runtime.ts";
import type { ScopesOf } from "../core/scopes.ts";
import type { Store } from "../core/store.ts";
import type { Skill } from "../core/skill.ts";
import type { ToolState } from "../core/tool-state.ts";
import type { Embedder } from "../core/embedder.ts";
import type { Tool, ToolContext, TypedTool } from "../core/tool.ts";
import type { Audit } from "../records/audit/open-audit.ts";
import type { LiveStats } from "../records/stats/call-stats.ts";
import type { Approve, CallOptions } from "./call/call-options.ts";
import type { InjectedSource, RegisteredTool, WorkspaceChange } from "./registry/registered-tool.ts";
import type { Middleware, UseOptions } from "./call/middleware.ts";
import type { WorkspaceLimits } from "./options/limits.ts";
import type { BreakerOptions, RetryPolicy } from "./failures/retry-policy.ts";
import type { QuotaOptions } from "./quotas/quota-options.ts";
import type { Quotas } from "./quotas/quotas.ts";
import type { RateLimit } from "./rates/rate-limit.ts";
import type { ForgetOptions } from "./recall/output-cache.ts";
import type { RedactionOptions } from "./options/redaction.ts";
import type { SkillMethods } from "./skills/skill-methods.ts";
import type { TelemetryOptions } from "./telemetry/tracing.ts";
import type { CappedOutput, ToolOutcome } from "../core/outcome.ts";
import type { OutputReader } from "./outputs/kept-outputs.ts";
import type { OutputPage, PageOptions, OutputMatches, SearchOutputOptions } from "./outputs/read-output.ts";
import type { OutputSlice, SliceOutputOptions } from "./outputs/slice-output.ts";

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
  /** Compares texts by what they say, for tools whose `cache` has `similar`. `toEmbedder` makes one. @default none */
  readonly embedder?: Embedder;
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
   * What is done when a model names a file in a call. `ask`: one of the workspace's folder may be read unasked by a tool that has no
   * network and calls no other; anything more needs an approval. `allow`: Kitbag does not ask. `deny`: models name no files. @default "ask"
   */
  readonly files?: FilePolicy;
  /**
   * Where events, large outputs and what tools keep are kept. @default nowhere: events go to subscribers only, large outputs and
   * what tools keep to memory
   */
  readonly store?: Store;
  /** Where every call is recorded, so that changes of the record are noticed. @default nowhere */
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
  /**
   * Opens a session: a view of this workspace with open skills of its own. It begins with what is open here. Close it.
   *
   * @throws {KitbagError} `option-invalid`
   */
  openSession(options?: SessionOptions): Session;

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
   * are of this process; `readCallStats` reads those of all processes that share a store. With `steps`, every time says how many took at
   * most a millisecond, four, sixteen, and so on.
   */
  stats(options?: { readonly steps?: boolean }): LiveStats;
}

/** How a session is opened. */
export interface SessionOptions {
  /** Whether tools are available that only agents can call: other agents, for example. @default false */
  readonly isAgent?: boolean;
  /**
   * The `call` of the context that a tool got which is an agent, of this workspace or another: every call of the session is made inside
   * that call, may call what that may, and is cancelled with it. @default each call is an outermost one
   */
  readonly inside?: ToolContext["call"];
}

/** An owner with tools that are always available. */
export interface ToolComponent {
  readonly name: string;
  readonly tools: readonly Tool[];
}

/** What may be said when a tool is added. */
export interface AddOptions {
  /** The component it belongs to. @default none: the tool is global */
  readonly component?: string;
  /** Values for this tool's `inject`; they go before the workspace's. */
  readonly injected?: Readonly<Record<string, unknown>>;
  /**
   * Earlier versions of it, each with another `version`. They can be called as `address@version` and are never listed. They share
   * what the tool keeps, and the values for its `inject`. @default none; of a tool that replaces one, those that it had
   */
  readonly versions?: readonly Tool[];
}

/** What a workspace can do with tools, but for calling them. */
export interface ToolMethods {
  /**
   * Adds a tool.
   *
   * @throws {KitbagError} `tool-duplicate` if its owner already has a tool of this name, or another tool has it as its wire name;
   * `owner-invalid` if the component is no name or the name of a skill; `option-invalid` if two versions are the same. Nothing is
   * changed then.
   */
  add(tool: Tool, options?: AddOptions): void;
  /** Adds a component with its tools, all of them or none. It is there as long as it has tools. */
  addComponent(component: ToolComponent): void;
  /**
   * Puts `tool` in the place of its owner's tool of the same name. Calls that have begun finish with the old one.
   *
   * @throws {KitbagError} `tool-not-found` if there is no such tool.
   */
  replace(tool: Tool, options?: AddOptions): void;
  /**
   * Removes a tool, by address or wire name. Calls that are running finish; those that still wait for an approval or a place fail.
   * Answers whether there was one.
   */
  remove(address: string): boolean;
  /** Removes a component with all its tools. Answers whether there was one. */
  removeComponent(name: string): boolean;
  /**
   * Makes several changes one: subscribers hear once, after the last. If `changes` throws, none of them is made; that also holds
   * for a change inside a change.
   *
   * @throws {KitbagError} `option-invalid` if `changes` is async.
   */
  change(changes: () => void): void;

  /** Finds a tool by address, bare name or wire name, available or not. */
  getTool(address: string): RegisteredTool | undefined;
  isToolAvailable(address: string): boolean;
  /** In the order they were added. The same array while it would be the same: what is made of it can be kept by its identity. */
  getAvailableTools(): readonly RegisteredTool[];
  getToolSource(address: string): { readonly source: ToolSource; readonly owner: string } | undefined;
}

/** How tools are called, and how outcomes are read. */
interface CallMethods {
  /** Calls `listener` after each change; answers with the function that ends it. */
  onChange(listener: (change: WorkspaceChange) => void): () => void;
  /**
   * Calls a tool.
   *
   * **Contract**: never throws and never rejects; every failure is an outcome. Resolves at the deadline at the latest, also if
   * the tool does not stop; only an approval, a middleware and the store may take longer.
   */
  call<Input, Output>(
    tool: TypedTool<Input, Output>,
    input: Input,
    options?: CallOptions,
  ): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolOutcome>;
  /**
   * Reads a part of an output that was too large to hand over. With `user`, only what was kept for that user.
   *
   * @throws {KitbagError} `output-missing` if nothing is kept under the handle, or no longer: without a store the latest 256 MiB
   * are. `option-invalid` if an option is wrong.
   */
  readOutput(handle: string, options?: PageOptions): Promise<OutputPage>;
  /** Reads all bytes of such an output, or of a file that a call wrote. @throws {KitbagError} as `readOutput` */
  readOutputBytes(handle: string, options?: OutputReader): Promise<Uint8Array>;
  /**
   * Keeps a file of a caller, for that user, so that a call can name it by its handle: `{ "pdf": "output:sha256:…" }`.
   *
   * @throws {KitbagError} `quota-reached`
   */
  keepFile(bytes: Uint8Array, options?: OutputReader): Promise<CappedOutput>;
  /** Finds words in such an output. @throws {KitbagError} as `readOutput` */
  searchOutput(handle: string, options: SearchOutputOptions): Promise<OutputMatches>;
  /**
   * Takes a part out of such an output, if it is JSON: what is at a path, or some items of a list.
   *
   * @throws {KitbagError} as `readOutput`; `option-invalid` also if there is nothing at the path, and says what there is instead.
   */
  sliceOutput(handle: string, options?: SliceOutputOptions): Promise<OutputSlice>;
}

/** What can be asked about tools, as seen with the open skills of a session. */
export type ToolQueries = Pick<ToolMethods, "getTool" | "isToolAvailable" | "getAvailableTools" | "getToolSource">;

/** What a session can do with skills. */
export type SkillUses = Omit<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getAllSkillToolStates">;

/**
 * A view of a workspace with open skills of its own: one for each conversation, run or client. It begins with what is open in the
 * workspace and then goes its own way: what it opens is available in its own calls, and in the calls inside them, and nowhere else.
 * Tools and skills themselves are the workspace's.
 *
 * **Contract**: its methods are those of the workspace, for the skills that are open in this session; `onChange` reports changes of
 * this session. A skill's `onActivate` runs when the first of the workspace and its sessions opens it, `onDeactivate` when the last one
 * closes it. The caller who opens a session closes it.
 */
export interface Session extends CallMethods, ToolQueries, SkillUses {
  /**
   * Closes the skills that are open here. Nothing is available any more, and every call fails with `session-closed`; calls that are
   * running finish, and what is being opened is given up. Resolves when `onDeactivate` of the skills that are open nowhere else is
   * over. Closing it again does nothing.
   */
  close(): Promise<void>;
}
