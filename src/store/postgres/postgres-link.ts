import type { Client, ClientConfig } from "pg";

import { describeCause, KitbagError } from "../../core/errors.ts";
import {
  createReconnecting,
  createWatch,
  type Reconnecting,
  type Watch,
  type WatchedSocket,
} from "../server-connection.ts";

/** One thing to ask of the server. Statements with the same name have the same text. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Makes the statement of this name; `$1`, `$2`, … are the values. */
export type Statements<Name extends string> = (name: Name, ...values: readonly unknown[]) => Statement;

/** Makes the statements of one part of a store from their texts. */
export function createStatements<Name extends string>(
  part: string,
  texts: Readonly<Record<Name, string>>,
): Statements<Name> {
  return (name, ...values) => ({ name: `${part}-${name}`, text: texts[name], values });
}

/** A row as `pg` reads it: 64-bit numbers are texts. */
export type Row = Readonly<Record<string, unknown>>;

/** What became of statements. */
export type Answers =
  | { readonly ok: true; readonly rows: readonly (readonly Row[])[] }
  | {
      readonly ok: false;
      readonly cause: unknown;
      /** Whether the server may have got the last of them and not told what became of it. */
      readonly unanswered: boolean;
      /** Whether it was given up because nothing came for too long. */
      readonly isSilent?: boolean;
    };

/** A connection that is made when it is needed, and made anew when it was lost. */
export interface PostgresLink {
  /** How many statements wait for their answer. */
  readonly pending: number;
  /** Sends all at once, next to each other, and waits for all answers. Never rejects. */
  send(statements: readonly Statement[]): Promise<Answers>;
  /** Waits for the answers that are still to come, then ends the connection. */
  close(): Promise<void>;
}

/** How connections are made. */
export interface LinkOptions {
  readonly createClient: (config: ClientConfig) => Client;
  /** How long the server may say nothing, or take nothing, while it is expected to. */
  readonly timeoutMs: number;
}

/** A connection that was made, and who looks after it. */
export interface OpenLink {
  readonly client: Client;
  readonly watch: Watch;
}

/** Makes a link; it connects with the first statement. */
export function createPostgresLink(options: LinkOptions): PostgresLink {
  const connection = createConnection(options);
  let pending = 0;
  let isClosed = false;
  let idle = Promise.withResolvers<void>();
  idle.resolve();

  async function ask(statements: readonly Statement[]): Promise<Answers> {
    let link: OpenLink;
    if (isClosed) return { ok: false, cause: new Error("its connections are closed"), unanswered: false };
    try {
      link = await connection.open();
    } catch (cause) {
      return { ok: false, cause, unanswered: false };
    }
    return collect(link, statements);
  }

  return {
    get pending() {
      return pending;
    },
    async send(statements) {
      if (pending === 0) idle = Promise.withResolvers();
      pending += statements.length;
      try {
        return await ask(statements);
      } finally {
        pending -= statements.length;
        if (pending === 0) idle.resolve();
      }
    },
    async close() {
      await idle.promise;
      isClosed = true;
      await connection.end();
    },
  };
}

function createConnection(options: LinkOptions): Reconnecting<OpenLink> {
  return createReconnecting({
    connect: (lose) => openPostgres(options.createClient, options.timeoutMs, lose),
    end: ({ client }) => client.end(),
  });
}

/** Connects a client that is looked after. `lose` is called when the connection is gone. */
export async function openPostgres(
  createClient: LinkOptions["createClient"],
  timeoutMs: number,
  lose: () => void,
): Promise<OpenLink> {
  const client = createClient(toSettings(timeoutMs));
  // The connection may break at any time, also while no query is waiting.
  client.on("error", lose).on("end", lose);
  const watch = createWatch(toSocket(client), timeoutMs);
  try {
    await watch.expect(client.connect());
  } catch (cause) {
    throw watch.lostBecause() ?? cause;
  }
  return { client, watch };
}

/** Sends the statements and waits for all answers. */
async function collect({ client, watch }: OpenLink, statements: readonly Statement[]): Promise<Answers> {
  const queries = statements.map(({ name, text, values }) =>
    watch.expect(client.query<Row, unknown[]>({ name, text, values: [...values] }), sizeOf(values)),
  );
  const results = await Promise.allSettled(queries);
  const failed = results.find((result) => result.status === "rejected");
  const last = results.at(-1);
  if (!failed) return { ok: true, rows: results.map((result) => (result as Fulfilled).value.rows) };
  const unanswered = last?.status === "rejected" && !isReported(last.reason);
  const silence = watch.lostBecause();
  return { ok: false, cause: silence ?? failed.reason, unanswered, isSilent: silence !== undefined };
}

type Fulfilled = PromiseFulfilledResult<{ readonly rows: readonly Row[] }>;

/** What every connection asks of the server: it must let go of what a client that was lost has locked. */
function toSettings(timeoutMs: number): ClientConfig {
  return {
    pipeline: true,
    keepAlive: true,
    fallback_application_name: "kitbag",
    // Shorter than our own patience: what the server refuses for sure is better than what may have happened.
    lock_timeout: Math.max(1, Math.floor(timeoutMs / 2)),
    idle_in_transaction_session_timeout: timeoutMs,
  };
}

/** The socket of a client, which `pg` does not show and replaces when the connection is encrypted. */
function toSocket(client: Client): WatchedSocket {
  const current = (): WatchedSocket =>
    (client as unknown as { connection: { stream: WatchedSocket } }).connection.stream;
  return {
    get bytesRead() {
      return current().bytesRead;
    },
    destroy: () => current().destroy(),
  };
}

/** Breaks a connection at once. */
export function breakPostgres({ client }: OpenLink): void {
  toSocket(client).destroy();
}

/** About how many bytes a statement is long; only what may be large counts. */
function sizeOf(values: readonly unknown[]): number {
  let size = 0;
  for (const value of values) {
    if (typeof value === "string") size += value.length;
    else if (value instanceof Uint8Array) size += value.length * 2;
    else if (Array.isArray(value)) size += sizeOf(value);
  }
  return size;
}

const wrongAccess = "check the user, the password and the database in the address";
const serverAway = "check that the server runs and can be reached; each call tries it anew";

/** What to do about what a server says, by its code; the first that fits. */
const cures: readonly (readonly [codes: RegExp, cure: string])[] = [
  [/^(?:28|3D)/u, wrongAccess],
  [/^42501$/u, "give the user the right to create a schema, or tables in it"],
  [/^53[12]00$/u, "give the server more room"],
  [/^53300$/u, "raise max_connections, or run fewer processes"],
  [/^(?:55P03|40001|40P01|57014)$/u, "try again; another client held a lock for too long"],
];

/** Says that a server cannot be used now, and why. */
export function toUnavailable(store: string, cause: unknown, mayBeWritten: boolean): KitbagError<"store-unavailable"> {
  const code = codeOf(cause);
  const text = describeCause(cause);
  // Trying several addresses of one host fails with an error that has no text of its own.
  const reason = text === "" || text === "AggregateError" ? `it cannot be reached (${code})` : text;
  const cure = cures.find(([codes]) => codes.test(code))?.[1] ?? serverAway;
  return new KitbagError("store-unavailable", { store, reason, cure, mayBeWritten }, { cause });
}

/** The code that a server, or the operating system, gave an error; empty if the error has no code. */
export function codeOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}

/**
 * Tells whether an error is what the server answered: nothing was done, and it is there. When it ends a connection it says so,
 * too; what it was doing may then be done.
 */
export function isReported(cause: unknown): boolean {
  const { severity } = (cause ?? {}) as { severity?: unknown };
  return typeof severity === "string" && !/^(?:08|57P|25P03)/u.test(codeOf(cause));
}
