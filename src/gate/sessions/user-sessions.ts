import type { Caller } from "../gate.ts";
import type { Session, Workspace } from "../../workspace/workspace.ts";

/** A session of a user while a request or a connection uses it. */
export interface SessionUse {
  readonly session: Session;
  /** Tells it from the sessions of other users and other names. */
  readonly key: string;
  /** Whether those who use it may be on other machines. */
  readonly isRemote: boolean;
  /** A request of the connection came: the session is not idle. */
  touch(): void;
  /** Keeps the session open beside this use, until the answered function is called. */
  hold(): () => void;
  /** Ends the use; `usedAt`, by `performance.now()`, is when the session was used last. Calling it again does nothing. */
  end(usedAt?: number): void;
}

/**
 * The sessions of users over HTTP: which skills a user has open under a session name. They belong to no connection, so every client and
 * every request of a user that gives the same name has the same skills open, in both generations of the protocol.
 */
export interface UserSessions {
  /**
   * Uses the caller's session of a name, which begins with what is open in the workspace; empty for the user's default session.
   * Answers `undefined` if there are as many sessions as there may be, and all are in use.
   */
  use(caller: Caller, name: string): SessionUse | undefined;
  /** How many are open. */
  readonly size: number;
  closeAll(): Promise<void>;
}

/** How many sessions users may have, and for how long. */
export interface SessionLimits {
  /** A session that was not used for so long is closed. */
  readonly idleMs: number;
  /** Sessions of one user at once: each has open skills of its own. */
  readonly maxSessionsPerUser: number;
  /** Sessions of all users. */
  readonly maxUserSessions: number;
}

/** The limits that hold unless others are given. */
export const userSessionLimits: SessionLimits = {
  idleMs: 30 * 60_000,
  maxSessionsPerUser: 500,
  maxUserSessions: 1000,
};

interface Held {
  readonly key: string;
  readonly user: string;
  readonly session: Session;
  /** How many requests and connections use it now. */
  uses: number;
  /** By `performance.now()`: a clock that is set must not make a session look old. */
  usedAt: number;
}

/** How often idle sessions are looked for. */
const sweepMs = 10_000;

/** Makes an empty set of sessions. A session that nothing used for `idleMs` is closed, and the skills in it with it. */
export function createUserSessions(workspace: Workspace, limits: SessionLimits): UserSessions {
  const sessions = new Map<string, Held>();
  const closing = new Set<Promise<void>>();
  const sweep = setInterval(closeIdle, Math.min(sweepMs, limits.idleMs)).unref();

  function close({ key, session }: Held): void {
    sessions.delete(key);
    const closed = session.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  function closeIdle(): void {
    const since = performance.now() - limits.idleMs;
    for (const held of sessions.values()) if (held.uses === 0 && held.usedAt <= since) close(held);
  }

  /** Makes room for one more session: the user's own if they have too many, else of the user that has the most. */
  function makeRoom(user: string): boolean {
    const byUser = Map.groupBy(sessions.values(), (held) => held.user);
    const own = byUser.get(user) ?? [];
    const isOverOwn = own.length >= limits.maxSessionsPerUser;
    if (!isOverOwn && sessions.size < limits.maxUserSessions) return true;
    const sets = isOverOwn ? [own] : [...byUser.values()].toSorted((one, other) => other.length - one.length);
    const victim = sets.map(findUnused).find((held) => held !== undefined);
    if (victim !== undefined) close(victim);
    return victim !== undefined;
  }

  return {
    use(caller, name) {
      // All names of the local user are one user.
      const user = JSON.stringify(workspace.ownerOf(caller.id) ?? null);
      const key = JSON.stringify([user, name]);
      const known = sessions.get(key);
      if (known === undefined && !makeRoom(user)) return undefined;
      const held = known ?? { key, user, session: workspace.openSession(), uses: 0, usedAt: performance.now() };
      sessions.set(key, held);
      return beginUse(held);
    },
    get size() {
      return sessions.size;
    },
    async closeAll() {
      clearInterval(sweep);
      for (const held of sessions.values()) close(held);
      await Promise.all(closing);
    },
  };
}

function findUnused(sessions: readonly Held[]): Held | undefined {
  const unused = sessions.filter(({ uses }) => uses === 0);
  return unused.toSorted((one, other) => one.usedAt - other.usedAt)[0];
}

function beginUse(held: Held): SessionUse {
  let isOver = false;
  const touch = (usedAt = performance.now()): void => {
    held.usedAt = Math.max(held.usedAt, usedAt);
  };
  held.uses += 1;
  touch();
  return {
    session: held.session,
    key: held.key,
    isRemote: true,
    hold() {
      const use = beginUse(held);
      return () => use.end();
    },
    touch: () => touch(),
    end(usedAt) {
      if (isOver) return;
      isOver = true;
      held.uses -= 1;
      touch(usedAt);
    },
  };
}

/** The header with which a client names its session, where it cannot put a query into the URL. */
const sessionHeader = "kitbag-session";

/**
 * Reads the name that a request gives its session: `session` of the query, or the header. Empty for the default session; `undefined` for
 * what is no name.
 */
export function readSessionName(query: string, headers: Readonly<Record<string, unknown>>): string | undefined {
  const name = new URLSearchParams(query).get("session") ?? headers[sessionHeader] ?? "";
  return typeof name === "string" && /^[\w.:@-]{0,64}$/u.test(name) ? name : undefined;
}
