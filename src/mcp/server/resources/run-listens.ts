import { toRunId, type RunWatch } from "./run-watch.ts";

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
