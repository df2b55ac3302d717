import { KitbagError } from "../../core/errors.ts";
import { getNumber, type Message } from "./debug-messages.ts";
import type { DebugCommands } from "./debug-session.ts";
import { toShownFile, type DebugTarget } from "./debug-target.ts";

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
