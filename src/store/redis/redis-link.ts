import { describeCause, KitbagError } from "../../core/errors.ts";
import { createReconnecting, createWatch, type Watch } from "../server-connection.ts";

/** What is used of a client of the package `redis`. */
export interface RedisClient {
  connect(): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  ping(): Promise<unknown>;
  on(event: "error" | "end" | "terminated", listener: () => void): unknown;
  destroy(): void;
  close(): Promise<unknown>;
  readonly isOpen: boolean;
}

/** How clients are made. */
export interface RedisLinkOptions {
  /** Makes a client that neither reconnects automatically nor queues commands while it is offline. */
  readonly createClient: () => RedisClient;
  /** The name of the store, for messages. */
  readonly shown: string;
  /** How long the server may say nothing while it is expected to answer. */
  readonly timeoutMs: number;
}

/** A connection, and who looks after it. */
export interface OpenRedis {
  readonly client: RedisClient;
  readonly watch: Watch;
}

/** Sends commands in the order of the calls. */
export interface RedisLink {
  /** `writes` says whether the command changes something, and so whether it may have, when its answer is lost. */
  send(command: readonly string[], writes: boolean): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects a client that is looked after. `lose` is called when the connection is gone. */
export async function openRedis({ createClient, timeoutMs }: RedisLinkOptions, lose: () => void): Promise<OpenRedis> {
  const client = createClient();
  client.on("error", lose);
  client.on("end", lose);
  client.on("terminated", lose);
  // The client does not show how many bytes have come: for it, only whole answers are a sign of life.
  const socket = { bytesRead: 0, destroy: () => destroy(client) };
  const watch = createWatch(socket, timeoutMs);
  try {
    await watch.expect(client.connect());
  } catch (cause) {
    destroy(client);
    throw watch.lostBecause() ?? cause;
  }
  return { client, watch };
}

/** Ends a connection at once, if it is open. */
export function destroy(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

/** Makes a link; it connects with the first command. */
export function createRedisLink(options: RedisLinkOptions): RedisLink {
  const { shown } = options;
  let isClosed = false;
  let pending = 0;
  let idle = Promise.withResolvers<void>();
  idle.resolve();
  const connection = createReconnecting<OpenRedis>({
    connect: (lose) => openRedis(options, lose),
    end: async ({ client }) => void (await client.close()),
  });

  async function ask(command: readonly string[], writes: boolean): Promise<unknown> {
    if (isClosed) throw toRedisUnavailable(shown, new Error("its connection is closed"), false);
    const { client, watch } = await connection.open().catch((cause: unknown) => {
      throw toRedisUnavailable(shown, cause, false);
    });
    try {
      const bytes = command.reduce((sum, text) => sum + text.length, 0);
      return await watch.expect(client.sendCommand([...command]), bytes);
    } catch (cause) {
      throw toRedisUnavailable(shown, watch.lostBecause() ?? cause, writes && !isRefused(cause));
    }
  }

  return {
    async send(command, writes) {
      if (pending === 0) idle = Promise.withResolvers();
      pending += 1;
      try {
        return await ask(command, writes);
      } finally {
        pending -= 1;
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

/** Tells whether the command certainly did not run: the server said so, or it was never sent. */
function isRefused(cause: unknown): boolean {
  const name = cause instanceof Error ? cause.constructor.name : "";
  return ["SimpleError", "BlobError", "ErrorReply", "ClientOfflineError", "ClientClosedError"].includes(name);
}

const serverAway = "check that the server runs and can be reached; each call tries it anew";

/** What to do about what a server says, by the first word; the first that fits. */
const cures: readonly (readonly [word: RegExp, cure: string])[] = [
  [/^(?:NOAUTH|WRONGPASS|NOPERM)\b/u, "check the user and the password in the address, and what the user may do"],
  [/^OOM\b/u, "give the server more memory, or let more of what it holds expire"],
  [/^MISCONF\b/u, "look into the server's log: it cannot write to its disk"],
  [/^READONLY\b/u, "use the address of the primary"],
  [/^LOADING\b/u, "wait until the server has read its data"],
];

/** Says that a Redis server cannot be used now, and why. */
function toRedisUnavailable(store: string, cause: unknown, mayBeWritten: boolean): KitbagError<"store-unavailable"> {
  const reason = describeCause(cause) || "it cannot be reached";
  const cure = cures.find(([word]) => word.test(reason))?.[1] ?? serverAway;
  return new KitbagError("store-unavailable", { store, reason, cure, mayBeWritten }, { cause });
}

/** What may be lost when a server crashes: nothing, what it acknowledged in the last two seconds, or all. */
export type MayForget = "nothing" | "seconds" | "everything";

/** The settings of a server that keeps what it acknowledges. */
const settings = {
  /** It writes what it holds to a file… */
  appendonly: "yes",
  /** …and drops nothing when memory is short. */
  "maxmemory-policy": "noeviction",
};

/** Other than this, a server answers before it has written: at the latest two seconds later, if its disk is busy. */
const strictSettings = { ...settings, appendfsync: "always" };

/**
 * Checks that a server keeps what it acknowledges.
 *
 * @throws {KitbagError} `store-unsafe` if it does not, or does not say; `store-unavailable`.
 */
export async function checkRedis(link: RedisLink, shown: string, mayForget: MayForget): Promise<void> {
  // Asks in any case, so that an address that is wrong is noticed.
  await link.send(["PING"], false);
  if (mayForget === "everything") return;
  const needed = Object.entries(mayForget === "seconds" ? settings : strictSettings);
  const reasons: string[] = [];
  for (const [name, right] of needed) {
    const found = await askSetting(link, name);
    if (found !== right) reasons.push(`${name} is ${found}`);
  }
  if (reasons.length === 0) return;
  const right = needed.map((pair) => pair.join(" ")).join(", ");
  const cure = `set ${right} on the server, or say with mayForget what may be lost`;
  throw new KitbagError("store-unsafe", { store: shown, reasons, cure });
}

async function askSetting(link: RedisLink, name: string): Promise<string> {
  const answer = await link.send(["CONFIG", "GET", name], false).catch((cause: unknown) => {
    // Hosted servers often forbid CONFIG GET.
    if (cause instanceof Error && /\b(?:NOPERM|unknown command)/iu.test(cause.message)) return undefined;
    throw cause;
  });
  const pairs = Array.isArray(answer) ? answer : Object.entries(answer ?? {}).flat();
  const value: unknown = pairs[1];
  return typeof value === "string" ? value : "not told";
}
