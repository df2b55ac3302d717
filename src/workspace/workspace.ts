import type { CallEvent, ToolSource } from "../core/events.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Store } from "../core/store.ts";
import type { Skill } from "../core/skill.ts";
import type { Tool, TypedTool } from "../core/tool.ts";
import type { Approve } from "./call/approval.ts";
import type { CallOptions } from "./call/call-options.ts";
import type { InjectedSource } from "./call/injection.ts";
import type { Middleware, OpenPhaseName } from "./call/middleware.ts";
import type { WorkspaceLimits } from "./limits.ts";
import type { OutputPage } from "./output-keeper.ts";
import type { RegisteredTool, WorkspaceChange } from "./registered-tool.ts";
import type { SkillMethods } from "./skills/skill-methods.ts";

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

/** What {@link createWorkspace} takes. */
export interface WorkspaceOptions {
  readonly tools?: Iterable<Tool>;
  readonly components?: Iterable<ToolComponent>;
  /** Added closed: open them with `activateSkill`. */
  readonly skills?: Iterable<Skill>;
  readonly runtimes?: Iterable<Runtime>;
  readonly limits?: Partial<WorkspaceLimits>;
  /** Values for the tools' `inject`, or a function that makes them for one call. */
  readonly injected?: InjectedSource;
  /** Texts that no outcome and no event may show, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Asked before each call, nested ones too. */
  readonly approve?: Approve;
  /** Where events and large outputs are kept. @default nowhere: events go to subscribers only, large outputs to memory */
  readonly store?: Store;
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
