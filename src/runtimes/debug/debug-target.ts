import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { type Message, getNumber } from "./debug-messages.ts";
import type { DebugCommands, DebugEvent } from "./debug-session.ts";

/** The script that an adapter debugs, and whom it tells. */
export interface DebugTarget {
  /** For messages. */
  readonly tool: string;
  /** The script, relative to the skill's folder. */
  readonly script: string;
  /** The skill's folder inside. */
  readonly root: string;
  /** The same folder on the host. */
  readonly folder: string;
  emit(event: DebugEvent): void;
}

/** What a file is called when it is shown: relative to the skill's folder if it is in there. */
export function toShownFile({ root }: DebugTarget, path: string): { file: string; isOwn: boolean } {
  const isOwn = path.startsWith(`${root}/`);
  return { file: isOwn ? path.slice(root.length + 1) : path, isOwn };
}

/** Where a file of the skill is inside. */
export function toInsideFile({ root }: DebugTarget, file: string): string {
  return file.startsWith("/") ? file : `${root}/${file.replace(/^\.\//u, "")}`;
}

/** Larger files are not shown. */
const maxSourceBytes = 4 * 1024 * 1024;

/** The text of a file of the skill; nothing if it is not a file, or leads out of the folder. */
export function loadSource(target: DebugTarget, file: string): string | undefined {
  const { file: own, isOwn } = toShownFile(target, toInsideFile(target, file));
  if (!isOwn) return undefined;
  try {
    const folder = realpathSync(target.folder);
    const path = realpathSync(join(folder, own));
    const facts = statSync(path);
    if (!path.startsWith(`${folder}/`) || !facts.isFile() || facts.size > maxSourceBytes) return undefined;
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Sends a request of a protocol, and answers with what comes back. */
export type Ask = (method: string, params?: Message) => Promise<Message>;

/** A script that can be debugged, over the protocol of its language. */
export interface Adapter {
  readonly commands: DebugCommands;
  /** Resolves when the script waits before its first line, or will not. Rejects if it cannot be debugged. */
  readonly ready: Promise<void>;
}

/** Why something cannot be done. */
export function fail({ tool }: Pick<DebugTarget, "tool">, reason: string): KitbagError {
  return new KitbagError("debug-failed", { tool, reason });
}

/** Where something is, as it is shown. */
export function toPlace(target: DebugTarget, path: string, location: unknown): { file: string; line: number } {
  return { file: toShownFile(target, path).file, line: (getNumber(location, "lineNumber") ?? 0) + 1 };
}
