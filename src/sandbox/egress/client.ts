import type * as Http from "node:http";
import type * as Https from "node:https";
import { connect, type Socket, type LookupFunction } from "node:net";

import { describeCause } from "../../core/errors.ts";
import type { Entry, EgressLimits } from "./ledger.ts";
import { resolveTarget, type Target, type NetworkRule, type Lookup, type Refusal } from "./network-rule.ts";

const lastWordsMs = 1000;

/** What the protocols of a proxy work with. */
export interface EgressContext {
  readonly rules: readonly NetworkRule[];
  readonly limits: EgressLimits;
  readonly lookup: Lookup;
  /** The entry of a client that has now said what it wants; its time to say so no longer runs. */
  take(client: Socket): Entry;
}

/** Why a client gets no connection; `failed` is about the other side. */
export interface Denial {
  readonly kind: Refusal["kind"] | "failed";
  readonly reason: string;
}

/** Connects to where a client wants to go, if a rule allows it. Says why not in words for the log. */
export async function reach(context: EgressContext, entry: Entry, target: Target): Promise<Socket | Denial> {
  entry.target = target;
  const addresses = await resolveTarget(target, context.rules, context.lookup);
  if ("reason" in addresses) return deny(entry, addresses);
  try {
    const upstream = await dial(addresses, target.port, context.limits.connectMs);
    // Its users look at its end, not at its errors.
    upstream.on("error", () => {});
    entry.watch(upstream);
    return upstream;
  } catch (cause) {
    return deny(entry, { kind: "failed", reason: describeCause(cause) });
  }
}

function deny(entry: Entry, denial: Denial): Denial {
  entry.end(denial.reason);
  return denial;
}

/** Makes a text safe for a line of a protocol. */
export function toLine(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, "?").slice(0, 300);
}

/** Lets bytes through in both directions until both sides are done, one fails, or a limit is reached. */
export function joinSockets(client: Socket, upstream: Socket, entry: Entry, limits: EgressLimits): void {
  let reason: string | undefined;
  const close = (why?: string): void => {
    reason ??= why;
    client.destroy();
    upstream.destroy();
  };
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on("data", () => {
      if (!entry.count()) close();
    });
    from.setTimeout(limits.idleMs, () => close(`cut: silent for ${limits.idleMs} ms`));
    from.once("error", () => close());
    from.once("close", () => {
      // A clean end may leave bytes that are still on their way to the other side.
      if (!from.readableEnded || !from.writableFinished) close();
    });
    from.pipe(to);
  }
  upstream.once("close", () => entry.end(reason));
  if (client.destroyed) close();
}

/** Sends a client its last bytes; a client that does not read them is cut off after a second. */
export function dismiss(client: Socket, words: string | Uint8Array): void {
  client.end(words);
  client.setTimeout(lastWordsMs, () => client.destroy());
  client.resume();
}

/** A name that no resolver is ever asked for: the addresses are given. */
const placeholder = "resolved.invalid";

/** Answers every question with the addresses that were checked. */
export function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_name, options, answer) => {
    const [first] = found;
    // Not in the same turn: Node's own lookup never answers before it returned.
    process.nextTick(() => {
      if (options.all === true) answer(null, found);
      else answer(null, first?.address ?? "", first?.family ?? 4);
    });
  };
}

/** Connects to one of the addresses, and to nothing else. Rejects with a reason in words. */
function dial(addresses: readonly string[], port: number, connectMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const [only] = addresses.length === 1 ? addresses : [];
    const socket = connect({
      host: only ?? placeholder,
      port,
      lookup: fixedLookup(addresses),
      autoSelectFamily: true,
      allowHalfOpen: true,
      noDelay: true,
    });
    const timer = setTimeout(() => socket.destroy(new Error(`no answer after ${connectMs} ms`)), connectMs);
    const fail = (cause: Error): void => {
      clearTimeout(timer);
      reject(new Error(`cannot connect: ${describeCause(cause, 200)}`));
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

/** Loads Node's HTTP client at the first request: it loads all of Node's `fetch`, too, which takes 26 ms. */
export function loadHttp({ protocol }: URL): Promise<typeof Http | typeof Https> {
  return protocol === "https:" ? import("node:https") : import("node:http");
}
