import { randomBytes } from "node:crypto";

import { LRUCache } from "lru-cache";

import { toFailure, type Failure } from "../../../core/errors.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { Session, Workspace } from "../../../workspace/workspace.ts";

/** How many sessions clients may keep, and for how long they may leave one unused. */
interface HandleLimits {
  readonly idleMs: number;
  readonly maxHandles: number;
  readonly maxHandlesPerCaller: number;
}

/** A session that a client of the 2026 generation keeps by its handle. */
interface HeldSession {
  /** Unguessable. Only the caller that it was given to may use the session with it. */
  readonly handle: string;
  readonly session: Session;
}

/** The sessions that clients of the 2026 generation keep, because they have no connection that could. */
export interface SessionHandles {
  open(caller: Caller): HeldSession;
  /** `undefined` if there is no such session, it was closed, or it belongs to another caller: the answer does not tell which. */
  find(handle: string, caller: Caller): HeldSession | undefined;
  close(handle: string): void;
  /** Closes all of them. */
  closeAll(): Promise<void>;
}

interface Held extends HeldSession {
  readonly callerId: string;
}

/** Keeps sessions by handles. A new one evicts the oldest of its caller, or the oldest of the caller with the most sessions. */
export function createSessionHandles(
  workspace: Workspace,
  { idleMs, maxHandles, maxHandlesPerCaller }: HandleLimits,
): SessionHandles {
  const closing = new Set<Promise<void>>();
  const held = new LRUCache<string, Held>({
    max: maxHandles,
    ttl: idleMs,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    dispose({ session }) {
      const closed = session.close().finally(() => closing.delete(closed));
      closing.add(closed);
    },
  });

  return {
    open({ id: callerId }) {
      makeRoom(held, callerId, { maxHandles, maxHandlesPerCaller });
      const handle = randomBytes(24).toString("base64url");
      const session = workspace.openSession();
      held.set(handle, { handle, session, callerId });
      return { handle, session };
    },
    find(handle, caller) {
      const found = held.peek(handle);
      return found?.callerId === caller.id ? held.get(handle) : undefined;
    },
    close: (handle) => void held.delete(handle),
    async closeAll() {
      held.clear();
      await Promise.all(closing);
    },
  };
}

function makeRoom(
  held: LRUCache<string, Held>,
  callerId: string,
  { maxHandles, maxHandlesPerCaller }: Omit<HandleLimits, "idleMs">,
): void {
  // The one that was used longest ago comes first.
  const byCaller = Map.groupBy(held.rkeys(), (handle) => held.peek(handle)?.callerId ?? "");
  const own = byCaller.get(callerId) ?? [];
  for (const handle of own.slice(0, Math.max(0, own.length - maxHandlesPerCaller + 1))) held.delete(handle);
  if (held.size < maxHandles) return;
  const [most = []] = [...byCaller.values()].toSorted((one, other) => other.length - one.length);
  held.delete(most[0] ?? "");
}

/**
 * The workspace itself as a session: what is open in it is what all clients of 2026 see who name no session. What they have opened is open
 * in a session of its own, and a call that forgets to name that session says so.
 */
export function createSharedSession(workspace: Workspace): Session {
  return {
    ...workspace,
    close: () => Promise.resolve(),
    call: (async (tool: string, input?: unknown, options?: CallOptions) => {
      const outcome = await workspace.call(tool, input, options);
      return outcome.status === "ok" ? outcome : { ...outcome, error: nameSession(outcome.error) };
    }) as Session["call"],
  };
}

function nameSession(error: Failure): Failure {
  if (error.code === "tool-unavailable") return toFailure("session-missing", error.details);
  if (!isFromClosedSkill(error)) return error;
  const cure = '→ Give the "session" that activate_skill answers with: skills are open nowhere else';
  return { ...error, message: `${error.message}\n${cure}` };
}

/** Whether something inside the call wanted a tool of a skill that is closed. */
function isFromClosedSkill({ code, details }: Failure): boolean {
  if (code === "code-failed") return details.calls.some((call) => call.code === "tool-unavailable");
  return code === "step-failed" && details.code === "tool-unavailable";
}
