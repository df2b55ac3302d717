/**
 * The listener that `mcp` and `http` share: it checks `Host`, `Origin`, tokens and limits of every request, and hands the request to a
 * route. May import `core`, `platform` and the rows above them; only this folder opens a server. This file holds the contracts. Start with
 * `create-gate.ts` (opens and closes the server), then `create-listener.ts` (the life of one request).
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Scopes } from "../core/scopes.ts";

export type { IncomingMessage, ServerResponse } from "node:http";

/** Who makes a request, and what they may do. */
export interface Caller {
  /**
   * `local` without tokens, the id of a token, `oauth:` and the subject of a JWT, or `oauth-client:` and the client of one without a
   * subject. Never the token.
   */
  readonly id: string;
  readonly scopes: Scopes;
}

/**
 * A request that passed every check: Host, Origin, token and limits.
 *
 * **Contract:** the route answers through `response`, in any way that node allows. The object lives as long as the request.
 */
export interface GateRequest {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** The path as it was sent, without the query: `/mcp`. */
  readonly path: string;
  /** What is behind the `?`, as it was sent; empty without a query. */
  readonly query: string;
  /** What lines of the log and the header `x-request-id` of the answer call this request: as it was sent, if that is sane. */
  readonly requestId: string;
  /** Aborted when the client goes away before it has its answer, or the gate is closed and the time of grace is over. */
  readonly signal: AbortSignal;
  /**
   * Reads the whole body. Every call gives the same promise.
   *
   * It rejects with `request-refused` if the body is too large or too slow, or the client went away: let that error leave
   * `handle`, and the gate answers.
   */
  readBody(): Promise<Buffer>;
  /** Answers 403 with a challenge that names the scopes a token needs; the client may come back with a better one. */
  refuseScope(scopes: readonly string[]): void;
}

/** What the gate says instead of letting a request in. */
export interface Refusal {
  readonly status: number;
  /** What was wrong and what to do, without any secret. */
  readonly message: string;
}

/** Requests of one path, and who answers them. */
export interface Route {
  /** An exact path, as `/mcp`, or all paths below one, as `/api/*`. */
  readonly path: string;
  /**
   * Answers one request. What it throws is answered by the gate: a `request-refused` with its status, anything else with
   * 500 and no word about why (the gate's `report` gets it).
   */
  handle(request: GateRequest): void | Promise<void>;
  /**
   * Names the path of a request for logs and metrics, with placeholders for its parameters: few names, whatever clients send.
   *
   * @default `path`
   */
  describePath?(method: string, path: string): string;
  /** The body of an answer that the gate gives itself, as JSON text. @default `{"error":{"status","message"}}` */
  renderRefusal?(refusal: Refusal): string;
  /** The media type of such a body. @default "application/json" */
  readonly refusalType?: string;
  /** Is told that the gate begins to close: end the streams without a pending answer. */
  onClosing?(): void;
  /** Is told that the time of grace is over: give every request that waits an answer now. The connections are cut a moment later. */
  onCut?(): void;
  /**
   * Is told that a token is gone or has other scopes: `caller` is the object that requests with it had. End what is kept for it; the
   * requests are cut already.
   */
  onCallerGone?(caller: Caller): void;
}

/** A token that lets a caller in: as it is, or by its digest. */
export type GateToken = GateTokenOwner &
  (
    | {
        /** At least 16 characters, so that it cannot be guessed. */
        readonly token: string;
      }
    | {
        /** The SHA-256 of a random token, as 64 hexadecimal digits: what may be kept in a file. */
        readonly sha256: string;
      }
  );

/** Whose a token is. */
interface GateTokenOwner {
  /**
   * Who its owner is, for limits and records: visible characters, at most 200, and not as those of JWTs begin (`oauth:`).
   * @default `token-` and the first digits of its digest
   */
  readonly id?: string;
  /** @default "all" */
  readonly scopes?: readonly string[] | "all";
}

/** An authorization server whose JWTs let callers in. */
export interface GateOAuth {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  /** The address of this service as clients know it: `https://tools.example.com/mcp`. @default the gate's own, with the first route */
  readonly resource?: string;
  /** The `aud` that a token must have, or one of them. @default `resource` */
  readonly audience?: string | readonly string[];
  /** Where its keys are. @default found through the issuer's metadata */
  readonly jwksUrl?: string;
  /** Scopes that every request needs. @default none */
  readonly requiredScopes?: readonly string[];
  /** Scopes that the metadata names. @default `requiredScopes` */
  readonly scopes?: readonly string[];
}

/** How much the gate lets through. */
export interface GateLimits {
  /** @default 4 MiB */
  readonly maxBodyBytes: number;
  /** Requests a second of one caller with a token, and how many at once after a pause. @default 2000, 4000 */
  readonly caller: Rate | "off";
  /** Requests a second of one address, counted before any other check. @default 10_000, 20_000 */
  readonly address: Rate | "off";
  /** Wrong tokens a second of one address. @default 1, 20 */
  readonly guesses: Rate | "off";
  /**
   * Beyond it, connections by which no caller was let in make room, the oldest first; then those that are not in use, of the caller that
   * holds the most. @default 2000
   */
  readonly maxConnections: number;
  /** Connections of one caller with a token. Beyond it, idle ones are closed; if all are in use, the request is refused. @default 200 */
  readonly maxConnectionsPerCaller: number;
  /** How long the head of a request may take, counted from the connection. @default 10_000 */
  readonly headMs: number;
  /** How long a whole request may take to arrive. @default 60_000 */
  readonly requestMs: number;
  /** Bytes a second that a body must have on average, once it has taken `slowAfterMs`. @default 1024 */
  readonly minBytesPerSecond: number;
  /** How long a body may be slow: the first packets of a far client are. @default 5000 */
  readonly slowAfterMs: number;
  /** How long a client may take nothing of an answer that waits for it. @default 30_000 */
  readonly stalledMs: number;
  /** How long a connection stays open between requests. @default 30_000 */
  readonly idleMs: number;
}

/** A rate: `perSecond` in the long run, `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A request is over: its answer was sent, or its client went away. There is one for each request, also for one that was refused. */
export interface RequestEnd {
  readonly method: string;
  /** As the route describes it, without its parameters; `(none)` if nothing is there. */
  readonly path: string;
  /** 499 if the client went away before its answer began. */
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  /** The id of the caller, if one was let in. */
  readonly caller?: string;
}

/** What happened at the gate that an operator may want to know. Holds no secret, no query and no body. */
export type GateEvent =
  | {
      readonly type: "request-refused";
      readonly status: number;
      readonly reason: string;
      readonly address: string;
      readonly path: string;
      readonly requestId: string;
    }
  | { readonly type: "request-crashed"; readonly path: string; readonly error: unknown; readonly requestId: string }
  | { readonly type: "client-cut"; readonly reason: string; readonly address: string };

/** How a gate is opened. */
export interface GateOptions {
  readonly routes: readonly Route[];
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 takes any that is free. @default 0 */
  readonly port?: number;
  /** More names that clients may call this host by, as their `Host` header says it, without the port. */
  readonly hosts?: readonly string[];
  /** Web pages that may call, beside those of this host: `https://app.example.com`. */
  readonly origins?: readonly string[];
  readonly tokens?: readonly GateToken[];
  readonly oauth?: GateOAuth;
  readonly limits?: Partial<GateLimits>;
  readonly report?: (event: GateEvent) => void;
  /** Is told of each request when it is over: for an access log, or to count them. It must not throw. */
  readonly onRequestEnd?: (end: RequestEnd) => void;
  /** Why there is no service behind this gate. Then `/healthz` answers 503 with it, to everybody: no secret, no path. */
  readonly unavailable?: string;
  /**
   * Finds out why the service cannot work now though it lives, as when its store is away; nothing if it can. `/readyz` answers 503 with
   * the reason, to everybody: no secret, no path. It is called at most once a second.
   */
  readonly findProblem?: () => Promise<string | undefined>;
  /**
   * Is called before an unknown token of `kitbag token` is refused, at most ten times a second: call `setTokens` if there are others now.
   * The token is looked for once more then. It must not throw.
   */
  readonly refreshTokens?: () => void;
}

/** A listener that is open. */
export interface Gate {
  /** Where it listens, without a slash at the end: `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Requests that are being answered now. */
  readonly running: number;
  /**
   * Takes other tokens in place of those before. Requests and streams that a token was let in for which is not there any more, or has
   * other scopes now, are cut at once. With an empty list no token is valid; a gate that was open to every client no longer is.
   *
   * @throws {KitbagError} `option-invalid` if a token is wrong; then nothing changes
   */
  setTokens(tokens: readonly GateToken[]): void;
  /** Takes no new request, lets the running ones finish for up to `graceMs`, then cuts them. @default graceMs 10_000 */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}
