import { connect, type LookupFunction, type Socket } from "node:net";

import { describeCause } from "../../core/errors.ts";

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
export function dial(addresses: readonly string[], port: number, connectMs: number): Promise<Socket> {
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
