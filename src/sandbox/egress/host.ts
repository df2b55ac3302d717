import { toAddress } from "./address.ts";

/** Where a connection goes: a name in lower case without a dot at its end, or an address as `toAddress` writes it. */
export interface Target {
  readonly host: string;
  readonly kind: "name" | "address";
  readonly port: number;
}

/** A host without a port. */
export type Host = Omit<Target, "port">;

/** What is wrong with a text, to be put after a colon. */
export interface Wrong {
  readonly wrong: string;
}

const longestName = 253;

/**
 * Reads a host as programs write it: a name, an IPv4 address, or an IPv6 address in brackets. Only what every resolver reads the
 * same way passes: a check that sees another name than the resolver is no check.
 */
export function parseHost(text: string): Host | Wrong {
  if (text === "") return { wrong: "there is no host" };
  if (/[^\x21-\x7e]/u.test(text)) {
    const international = !/[\x00-\x20\x7f]/u.test(text);
    return { wrong: international ? "write an international name in its xn-- form" : "a host has no such character" };
  }
  if (text.startsWith("[")) return parseBracketed(text);
  const address = toAddress(text);
  if (address !== undefined) {
    return text.includes(":")
      ? { wrong: `write the address in brackets: [${text}]` }
      : { host: address, kind: "address" };
  }
  return parseName(text.toLowerCase().replace(/\.$/u, ""));
}

/** Reads `host:port`; without a port the answer has the port `otherwise`, or is wrong if that is missing. */
export function parseTarget(text: string, otherwise?: number): Target | Wrong {
  const [, hostText = "", portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/su.exec(text) ?? [];
  if (hostText === "" && text !== "") return { wrong: "expected host:port; an IPv6 address stands in brackets" };
  const host = parseHost(hostText);
  if ("wrong" in host) return host;
  if (portText === undefined)
    return otherwise === undefined ? { wrong: "there is no port" } : { ...host, port: otherwise };
  const port = parsePort(portText);
  return port === undefined ? { wrong: "a port is a number from 1 to 65535" } : { ...host, port };
}

function parsePort(text: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/u.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function parseBracketed(text: string): Host | Wrong {
  const inner = /^\[([^\]]*)\]$/u.exec(text)?.[1] ?? "";
  const address = inner.includes(":") ? toAddress(inner) : undefined;
  return address === undefined
    ? { wrong: "in brackets stands an IPv6 address without a zone" }
    : { host: address, kind: "address" };
}

function parseName(name: string): Host | Wrong {
  if (name.length > longestName) return { wrong: `a name has at most ${longestName} characters` };
  if (/[^a-z0-9._-]/u.test(name)) return { wrong: 'a name has only letters, digits, "-", "_" and "."' };
  const labels = name.split(".");
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/u.test(label))) {
    return { wrong: 'each part of a name has 1 to 63 characters and no "-" at its ends' };
  }
  // Resolvers read 127.1, 0x7f.0.0.1 and 2130706433 as addresses.
  if (/^(?:\d+|0x[0-9a-f]*)$/u.test(labels.at(-1) ?? "")) return { wrong: "an address has four numbers from 0 to 255" };
  return { host: name, kind: "name" };
}
