import { isForAgents } from "../../core/agent-code.ts";
import type { ToolSource } from "../../core/events.ts";
import type { Tool } from "../../core/tool.ts";
import type { Failure } from "../../core/errors.ts";
import type { Listeners } from "../listeners.ts";

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

/** What changed in a workspace, told once, after everything is consistent. */
export interface WorkspaceChange {
  readonly added: readonly RegisteredTool[];
  readonly removed: readonly RegisteredTool[];
  /** Now as they are after the change. */
  readonly replaced: readonly RegisteredTool[];
}

/** A tool in the registry. The values for its `inject` are not in it: everybody gets to see entries. */
export type Entry = RegisteredTool;

/** A tool that was found. */
export interface Found {
  readonly ok: true;
  readonly entry: Entry;
  /** The values for its `inject` that were given when it was added. */
  readonly injected: InjectedRecord | undefined;
  /** Earlier versions of it, by version: they can be called, and are listed nowhere. */
  readonly versions?: ReadonlyMap<string, Found> | undefined;
  /** The composed tool that it is a part of, if it is in the workspace only as that. */
  readonly partOf?: Entry;
  /** Says why it may not run, for what is in no registry: a command in the text of a skill. */
  readonly refuse?: () => Failure | undefined;
}

/** An address that leads to no tool. */
export interface MissingTool {
  readonly ok: false;
  /** What was asked for, shortened. */
  readonly requested: string;
  readonly failure: Failure;
}

/** What an address leads to. */
export type Resolution = Found | MissingTool;

/**
 * Tells whether a tool's code is the host program's own: its functions, its agents, its pipelines, and the programs of the caller in code
 * mode.
 */
export function isHostCode({ tool, source }: Entry): boolean {
  // What a skill takes over is called with arguments of the skill's choice.
  if (tool.author !== undefined || "reuses" in tool.code) return false;
  const { kind } = tool.code;
  if (kind === "agent") return !isForAgents(tool);
  return kind === "function" || kind === "code" || (kind === "pipeline" && source !== "skill");
}

/** Injected values by name. */
export type InjectedRecord = Readonly<Record<string, unknown>>;

/** What a function that makes injected values gets to know of the call. */
export interface InjectorCall {
  readonly id: string;
  readonly tool: string;
  readonly user?: string;
}

/** Where a workspace has the values from: an object, or a function that makes them for one call. */
export type InjectedSource = InjectedRecord | ((call: InjectorCall) => InjectedRecord | Promise<InjectedRecord>);

/** Who has skills open: the workspace itself, or one of its sessions. What is available differs from one to the next. */
export interface Holder {
  /** The skills it has open, in the order they were opened. Never changed in place: another set takes its place. */
  open: ReadonlySet<string>;
  /** Those of them that were asked for; the others are open because another one requires them. */
  readonly asked: Set<string>;
  /** Nothing is available to one that is closed. */
  isClosed: boolean;
  /** Whether tools are available to it that only agents can call. */
  readonly isAgent: boolean;
  /** Those who want to hear what changes for it. */
  readonly changes: Pick<Listeners<WorkspaceChange>, "isHeard" | "tell">;
  /** The list of available tools that it was given last. */
  tools: readonly RegisteredTool[];
  /** The end of what it does with skills: one thing after the other. */
  turn: Promise<unknown>;
  /** Stops what it is opening; made when it opens something. */
  stop?: AbortController;
}

/** How a holder begins. */
export interface HolderOptions {
  /** It begins with what this one has open. @default with nothing */
  readonly from?: Holder;
  /** @default false */
  readonly isAgent?: boolean;
}

/** Makes a holder. */
export function createHolder(changes: Holder["changes"], { from, isAgent = false }: HolderOptions = {}): Holder {
  return {
    isAgent,
    open: from?.open ?? new Set(),
    asked: new Set(from?.asked),
    isClosed: false,
    changes,
    tools: from?.tools ?? [],
    turn: Promise.resolve(),
  };
}
