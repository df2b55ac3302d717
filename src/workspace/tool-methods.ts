import type { ToolSource } from "../core/events.ts";
import type { Tool } from "../core/tool.ts";
import type { RegisteredTool } from "./registered-tool.ts";

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
   * @throws {KitbagError} `tool-not-found` if there is none.
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
