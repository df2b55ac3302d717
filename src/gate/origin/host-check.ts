import { isIP } from "node:net";

import { isEverywhere, isLoopback } from "./is-loopback.ts";

/** The most spellings of one host that are remembered. */
const mostKnown = 64;

/**
 * Makes the check of `Host` headers that keeps web pages out whose name was made to point here (DNS rebinding).
 *
 * A gate on loopback is called by the names of loopback, another one also by its own address, and both by `hosts`. One that
 * listens everywhere is called by any number: an address is no name, so nobody can make it point elsewhere.
 */
export function createHostCheck(host: string, hosts: readonly string[]): (header: string) => boolean {
  const names = new Set(["localhost", "127.0.0.1", "[::1]"]);
  for (const name of [host, ...hosts]) names.add(toHeaderName(name));
  const everywhere = isEverywhere(host) || (!isLoopback(host) && isIP(host) === 0);
  const known = new Set<string>();

  return (header) => {
    if (known.has(header)) return true;
    const name = readName(header);
    if (name === undefined) return false;
    if (!names.has(name) && !(everywhere && isAddress(name))) return false;
    if (known.size < mostKnown) known.add(header);
    return true;
  };
}

function toHeaderName(name: string): string {
  return isIP(name) === 6 ? `[${name.toLowerCase()}]` : name.toLowerCase();
}

function isAddress(name: string): boolean {
  return isIP(name.startsWith("[") ? name.slice(1, -1) : name) !== 0;
}

/** The name in a `Host` header, in lower case, without the port; `undefined` if it is no host. */
function readName(header: string): string | undefined {
  return /^(\[[\da-f:.]+\]|[\da-z._-]+)(?::\d{1,5})?$/iu.exec(header)?.[1]?.toLowerCase();
}
