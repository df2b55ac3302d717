import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { parseSkillUri } from "../skills/skill-uri.ts";
import { parseKitbagUri, toKitbagUri } from "./kitbag-uri.ts";
import { toRunId, type RunWatch } from "./run-watch.ts";

/** What a client of the 2025 generation wants to hear of. */
export interface Subscriptions {
  /** @throws {ProtocolError} `InvalidParams` if there are too many already, or too many runs are followed. */
  add(uri: string): void;
  delete(uri: string): void;
  /** The URIs that the client gave for this resource: there may be several ways to write one. */
  find(uri: string): readonly string[];
  /** Ends all of them: the client is gone. */
  close(): void;
}

const mostSubscriptions = 1000;

/** Makes an empty set of subscriptions. `follow` follows those of them that are runs. */
export function createSubscriptions(follow: (uri: string) => ReturnType<RunWatch["follow"]>): Subscriptions {
  const given = new Map<string, string>();
  const ends = new Map<string, () => void>();

  function followRun(uri: string): void {
    const end = follow(uri);
    if (end === undefined) throw refuse("Cannot follow more runs now: too many are followed; try again later");
    ends.set(uri, end);
  }

  function drop(uri: string): void {
    given.delete(uri);
    ends.get(uri)?.();
    ends.delete(uri);
  }

  return {
    add(uri) {
      if (given.size >= mostSubscriptions && !given.has(uri)) {
        throw refuse(`Cannot subscribe to more than ${mostSubscriptions} resources: unsubscribe from some first`);
      }
      if (toRunId(uri) !== undefined && !ends.has(uri)) followRun(uri);
      given.set(uri, toOneForm(uri));
    },
    delete: drop,
    find(uri) {
      if (given.size === 0) return [];
      const wanted = toOneForm(uri);
      return [...given].filter(([, form]) => form === wanted).map(([one]) => one);
    },
    close() {
      for (const uri of [...given.keys()]) drop(uri);
    },
  };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Two URIs of one resource have the same form. */
function toOneForm(uri: string): string {
  const own = parseKitbagUri(uri);
  return own === undefined ? (parseSkillUri(uri) ?? uri) : toKitbagUri(own.kind, own.name);
}

/** What 2026 clients that listen want to hear of runs. However many name one URI, each change of it is told once. */
export interface RunListens {
  /** Follows the runs among `uris` for a caller, until `end` is called. Those that cannot be followed are `refused`. */
  begin(uris: readonly string[], caller?: string): RunListen;
  /** Ends all of them. */
  close(): void;
}

/** The runs that one client listens to. */
export interface RunListen {
  readonly refused: ReadonlySet<string>;
  /** Doing it again does nothing. */
  end(): void;
}

interface Held {
  count: number;
  readonly end: () => void;
}

/** Makes what follows runs for those who are told by `tell`. */
export function createRunListens(runs: RunWatch | undefined, tell: (uri: string) => void): RunListens {
  const held = new Map<string, Held>();

  function hold(uri: string, caller: string | undefined): boolean {
    const known = held.get(uri);
    const end = known?.end ?? runs?.follow(uri, () => tell(uri), caller);
    if (end === undefined) return false;
    held.set(uri, { count: (known?.count ?? 0) + 1, end });
    return true;
  }

  function release(uri: string): void {
    const one = held.get(uri);
    if (one === undefined) return;
    one.count -= 1;
    if (one.count > 0) return;
    held.delete(uri);
    one.end();
  }

  return {
    begin(uris, caller) {
      const own = new Set(uris.filter(isRunUri));
      const refused = new Set([...own].filter((uri) => !hold(uri, caller)));
      const kept = [...own].filter((uri) => !refused.has(uri));
      return {
        refused,
        end() {
          for (const uri of kept.splice(0)) release(uri);
        },
      };
    },
    close() {
      for (const { end } of held.values()) end();
      held.clear();
    },
  };
}

/** Tells whether a URI is that of a run, or of the list of them. */
export function isRunUri(uri: string): boolean {
  return toRunId(uri) !== undefined;
}

/** The URIs that a request to listen names, of whatever it is. */
export function readListenedUris(body: unknown): readonly string[] {
  return readListed(body).filter((uri) => typeof uri === "string");
}

function readListed(body: unknown): readonly unknown[] {
  const { params } = (body ?? {}) as { readonly params?: unknown };
  const { notifications } = (params ?? {}) as { readonly notifications?: unknown };
  const { resourceSubscriptions: uris } = (notifications ?? {}) as { readonly resourceSubscriptions?: unknown };
  return Array.isArray(uris) ? uris : [];
}

/** The same request without some URIs. */
export function withoutUris(body: unknown, left: ReadonlySet<string>): unknown {
  if (left.size === 0) return body;
  const message = body as { readonly params: { readonly notifications: object } };
  const { params } = message;
  // What is no text stays, and is refused.
  const resourceSubscriptions = readListed(body).filter((uri) => !left.has(uri as string));
  return { ...message, params: { ...params, notifications: { ...params.notifications, resourceSubscriptions } } };
}
