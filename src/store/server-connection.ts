import { KitbagError, quote } from "../core/errors.ts";
import { nearestNames } from "../core/nearest.ts";

/** Where a server is. */
interface ServerAddress {
  /** Without the part of it that is ours. */
  readonly url: string;
  /** What the address itself says of where on the server: `?schema=two`, `?prefix=two:`. */
  readonly place?: string;
  /** For messages: without the name and the password of a user, and without what else may be secret. */
  readonly shown: string;
}

/**
 * Checks the address of a server.
 *
 * @throws {KitbagError} `option-invalid` if the address is invalid, or has an unknown parameter. The error does not repeat the text,
 * which may contain a password.
 */
export function parseServerAddress(
  url: string,
  protocols: readonly string[],
  placeName: "schema" | "prefix",
): ServerAddress {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && protocols.includes(parsed.protocol)) {
    const shown = `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
    if (placeName === "schema") checkParameters(parsed);
    const places = parsed.searchParams.getAll(placeName);
    const [place] = places;
    if (place === undefined) return { url, shown };
    if (places.length > 1) throw refusePlace(placeName, `${places.length} in the address`, "one");
    parsed.searchParams.delete(placeName);
    return { url: parsed.href, place, shown: `${shown}?${placeName}=${place}` };
  }
  throw new KitbagError("option-invalid", {
    option: "url",
    found: typeof url === "string" ? "another text" : typeof url,
    expected: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
  });
}

/** What the driver reads of an address, and what PostgreSQL has as parameters of a connection. */
const postgresParameters = [
  ...["application_name", "channel_binding", "client_encoding", "connect_timeout", "database", "dbname", "encoding"],
  ...["fallback_application_name", "gssencmode", "host", "hostaddr", "idle_in_transaction_session_timeout"],
  ...["keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "lock_timeout", "options"],
  ...["passfile", "password", "port", "query_timeout", "replication", "require_auth", "service", "ssl", "sslcert"],
  ...["sslcompression", "sslcrl", "sslkey", "sslmode", "sslnegotiation", "sslpassword", "sslrootcert", "sslsni"],
  ...["statement_timeout", "target_session_attrs", "tcp_user_timeout", "uselibpqcompat", "user"],
];

/** A schema that is misspelt must not become the usual one: that is the data of another project. */
function checkParameters({ searchParams }: URL): void {
  const known = ["schema", ...postgresParameters];
  const wrong = [...searchParams.keys()].find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const [nearest] = nearestNames(wrong, known, 1);
  throw new KitbagError("option-invalid", {
    option: "url",
    found: `the unknown parameter ${quote(wrong)}`,
    expected: `"schema" or a parameter of PostgreSQL${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`,
  });
}

/**
 * The place on a server that is meant: by the option, by the address, or the usual one.
 *
 * @throws {KitbagError} `option-invalid` if the option and the address name different ones.
 */
export function choosePlace(
  placeName: "schema" | "prefix",
  {
    option,
    address,
    usual,
  }: { readonly option: string | undefined; readonly address: ServerAddress; readonly usual: string },
): string {
  const { place } = address;
  if (option !== undefined && place !== undefined && option !== place) {
    throw refusePlace(
      placeName,
      `${JSON.stringify(option)}, and ${JSON.stringify(place)} in the address`,
      "the same in both, or only one",
    );
  }
  return option ?? place ?? usual;
}

function refusePlace(option: string, found: string, expected: string): KitbagError {
  return new KitbagError("option-invalid", { option, found, expected });
}

/** A connection that is made when it is asked for, and made anew when it was lost. */
export interface Reconnecting<Connection> {
  /** The open connection, or a new one. Concurrent callers wait for the same one. */
  open(): Promise<Connection>;
  /** Ends the connection that is open, if there is one. */
  end(): Promise<void>;
}

/** How a connection is made and ended. */
interface ReconnectingOptions<Connection> {
  /** `lose` must be called when the connection was lost; it may be called more than once. */
  connect(lose: () => void): Promise<Connection>;
  end(connection: Connection): Promise<void>;
}

/** Makes a connection that opens on first use. After a failed attempt, the next use tries again. */
export function createReconnecting<Connection>(options: ReconnectingOptions<Connection>): Reconnecting<Connection> {
  let opening: Promise<Connection> | undefined;

  return {
    open() {
      if (opening) return opening;
      const lose = (): void => {
        if (opening === current) opening = undefined;
      };
      const current = options.connect(lose);
      opening = current;
      current.catch(lose);
      return current;
    },
    async end() {
      const connection = await opening?.catch(() => undefined);
      opening = undefined;
      if (connection) await options.end(connection).catch(() => undefined);
    },
  };
}

/** What a watch needs of a connection to see whether it is alive. */
export interface WatchedSocket {
  /** How many bytes have arrived so far; constant if the connection does not count them. */
  readonly bytesRead: number;
  destroy(): void;
}

/** Looks after a connection on which answers are expected. */
export interface Watch {
  /** Waits for an answer, and breaks the connection if it is silent for too long. `bytes` is the length of what was asked. */
  expect<Answer>(answer: Promise<Answer>, bytes?: number): Promise<Answer>;
  /** Why the connection was broken, if it was. */
  lostBecause(): Error | undefined;
}

/** How often in its patience a watch looks: a silence is noticed late by one of these parts at the most. */
const looksPerTimeout = 5;

/** A question of this length is given as much time again: it has to get there before it can be answered. */
const bytesPerTimeout = 1024 * 1024;

/**
 * Makes the watch over a connection. A large answer may take as long as it needs, as long as bytes come: only silence is cut off,
 * so a server that has gone without a word is noticed, and one that is slow is not taken for it.
 */
export function createWatch(socket: WatchedSocket, timeoutMs: number): Watch {
  let expected = 0;
  let expectedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let silentLooks = 0;
  let bytesRead = 0;
  let lost: Error | undefined;

  function look(): void {
    silentLooks = socket.bytesRead === bytesRead ? silentLooks + 1 : 0;
    ({ bytesRead } = socket);
    if (silentLooks < looksPerTimeout * (1 + expectedBytes / bytesPerTimeout)) return;
    lost = new Error(`it has not answered for ${timeoutMs} ms`);
    socket.destroy();
  }

  function start(): void {
    expected += 1;
    if (expected > 1) return;
    silentLooks = 0;
    ({ bytesRead } = socket);
    timer = setInterval(look, timeoutMs / looksPerTimeout);
  }

  return {
    async expect(answer, bytes = 0) {
      start();
      expectedBytes += bytes;
      try {
        return await answer;
      } finally {
        expectedBytes -= bytes;
        expected -= 1;
        silentLooks = 0;
        if (expected === 0) clearInterval(timer);
      }
    },
    lostBecause: () => lost,
  };
}
