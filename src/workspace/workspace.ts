import type { CallEvent, ToolSource } from "../core/events.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Store } from "../core/store.ts";
import type { Skill } from "../core/skill.ts";
import type { Tool, TypedTool } from "../core/tool.ts";
import type { Approve } from "./call/authorise.ts";
import type { Middleware, OpenPhaseName } from "./call/phase.ts";
import type { SkillMethods } from "./skills/skill-methods.ts";

/** A tool that is in a workspace: the tool, and what the workspace knows about it. */
export interface RegisteredTool {
  readonly tool: Tool;
  /** `owner/name`, or the bare name of a global tool. */
  readonly address: string;
  /** The name that models and MCP clients see. */
  readonly wireName: string;
  readonly source: ToolSource;
  /** The component or skill it belongs to; `global` for a tool of the workspace itself. */
  readonly owner: string;
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
}

/** What a call may use and how deep calls may go. Every number can be set for the workspace; some also for one call. */
export interface WorkspaceLimits {
  /** How long a call may run, unless the tool or the caller says otherwise. @default 30000 */
  readonly limitMs: number;
  /** How many calls may run at once, nested ones not counted. @default 1000 */
  readonly maxConcurrent: number;
  /** How deep calls may call. @default 16 */
  readonly maxDepth: number;
  /** How often one tool may be in a chain of calls. @default 3 */
  readonly maxCycle: number;
  /** How many calls one call may make, all levels together. @default 1000 */
  readonly maxCalls: number;
  /** The largest input. @default 16 MiB */
  readonly maxInputBytes: number;
  /** Above this an output is kept under a handle, and only its head is handed over. @default 1 MiB */
  readonly maxOutputBytes: number;
  /** Above this an output is not even kept: the call fails. @default 64 MiB */
  readonly maxKeptBytes: number;
}

/** Injected values by name. */
export type InjectedRecord = Readonly<Record<string, unknown>>;

/** What {@link createWorkspace} takes. */
export interface WorkspaceOptions {
  readonly tools?: Iterable<Tool>;
  readonly components?: Iterable<ToolComponent>;
  /** Added closed: open them with `activateSkill`. */
  readonly skills?: Iterable<Skill>;
  readonly runtimes?: Iterable<Runtime>;
  readonly limits?: Partial<WorkspaceLimits>;
  /** Values for the tools' `inject`, or a function that makes them for one call. */
  readonly injected?: InjectedRecord | ((call: InjectorCall) => InjectedRecord | Promise<InjectedRecord>);
  /** Texts that no outcome and no event may show, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Asked before each call, nested ones too. */
  readonly approve?: Approve;
  /** Where events and large outputs are kept. @default nowhere: events go to subscribers only, large outputs to memory */
  readonly store?: Store;
}

/** What a function that makes injected values gets to know of the call. */
export interface InjectorCall {
  readonly id: string;
  readonly tool: string;
  readonly user?: string;
}

/** What may be said with one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly limitMs?: number;
  readonly maxOutputBytes?: number;
  readonly maxCalls?: number;
  /** Values for the tools' `inject`; they go before the tool's and the workspace's. */
  readonly injected?: Readonly<Record<string, unknown>>;
  /** Asked instead of the workspace's. */
  readonly approve?: Approve;
  /** Who asks, for the records. */
  readonly user?: string;
  /** The owner whose tools a bare name means first. */
  readonly from?: string;
  /** Gets the events of this call and of those inside it. */
  readonly onEvent?: (event: CallEvent) => void;
}

/** What changed in a workspace, told once, after everything is consistent. */
export interface WorkspaceChange {
  readonly added: readonly RegisteredTool[];
  readonly removed: readonly RegisteredTool[];
  /** Now as they are after the change. */
  readonly replaced: readonly RegisteredTool[];
}

/** A part of an output that is kept. */
export interface OutputPage {
  readonly text: string;
  readonly offset: number;
  /** Where the next page begins; none at the end. */
  readonly nextOffset?: number;
  /** Of the whole output. */
  readonly bytes: number;
}

/** What holds tools, knows where each comes from, and is the only way to call one. */
export interface Workspace extends SkillMethods {
  /**
   * Adds a tool.
   *
   * @throws {KitbagError} `tool-duplicate` if its owner already has a tool of this name; nothing is changed then.
   */
  add(tool: Tool, options?: AddOptions): void;
  /** Adds a component with its tools, all of them or none. */
  addComponent(component: ToolComponent): void;
  /**
   * Puts `tool` in the place of its owner's tool of the same name. Calls that are running finish with the old one.
   *
   * @throws {KitbagError} `tool-not-found` if there is none.
   */
  replace(tool: Tool, options?: AddOptions): void;
  /** Removes a tool; calls that are running finish. Answers whether there was one. */
  remove(address: string): boolean;
  /** Removes a component with all its tools. Answers whether there was one. */
  removeComponent(name: string): boolean;
  /** Makes several changes one: subscribers hear once, after the last. If `changes` throws, none of them is made. */
  change(changes: () => void): void;

  /** Finds a tool by address, bare name or wire name, available or not. */
  getTool(address: string): RegisteredTool | undefined;
  isToolAvailable(address: string): boolean;
  /** In the order they were added. */
  getAvailableTools(): readonly RegisteredTool[];
  getToolSource(address: string): { readonly source: ToolSource; readonly owner: string } | undefined;

  /** Calls `listener` after each change; answers with the function that ends it. */
  onChange(listener: (change: WorkspaceChange) => void): () => void;
  /** Calls `listener` with every event of every call; answers with the function that ends it. */
  onEvent(listener: (event: CallEvent) => void): () => void;
  /**
   * Puts a middleware before a phase, after those that are there already; answers with the function that takes it out. Without
   * `before` it sees the call first and its outcome last, before it is redacted, capped and recorded.
   */
  use(middleware: Middleware, options?: { readonly before?: OpenPhaseName }): () => void;

  /**
   * Calls a tool.
   *
   * **Contract**: never throws and never rejects; every failure is an outcome. Resolves at the deadline at the latest, also if
   * the tool does not stop.
   */
  call<Input, Output>(
    tool: TypedTool<Input, Output>,
    input: Input,
    options?: CallOptions,
  ): Promise<ToolOutcome<Output>>;
  call(tool: string, input?: unknown, options?: CallOptions): Promise<ToolOutcome>;
  /**
   * Reads a part of an output that was too large to hand over.
   *
   * @throws {KitbagError} `output-missing` if nothing is kept under the handle.
   */
  readOutput(handle: string, options?: { readonly offset?: number; readonly length?: number }): Promise<OutputPage>;
}
