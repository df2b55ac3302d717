import type { Failure } from "../core/errors.ts";
import type { InjectedRecord } from "./call/injection.ts";
import type { RegisteredTool } from "./registered-tool.ts";

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

/** Tells whether a tool's code is the host program's own: its functions, its pipelines, and the programs of the caller in code mode. */
export function isHostCode({ tool, source }: Entry): boolean {
  // What a skill takes over is called with arguments of the skill's choice.
  if (tool.author !== undefined || "reuses" in tool.code) return false;
  const { kind } = tool.code;
  return kind === "function" || kind === "code" || (kind === "pipeline" && source !== "skill");
}
