import { lookup as lookupName } from "node:dns/promises";

import { KitbagError, describeCause } from "../../core/errors.ts";
import { toAddress, describeInnerAddress } from "./address.ts";

/** Where programs may connect to. */
export interface NetworkRule {
  /** As it was written. */
  readonly text: string;
  /**
   * A `name` is that name alone, a `suffix` every name that ends in a dot and it, an `address` that address alone, `any` every public
   * name and address.
   */
  readonly kind: "name" | "suffix" | "address" | "any";
  readonly host: string;
  readonly ports: readonly number[];
}

const defaultPorts: readonly number[] = [80, 443];

/**
 * Reads a rule of the permission `network`: `api.github.com` (ports 80 and 443), `api.github.com:8443` (that port alone),
 * `*.example.com` (every name below it, but not `example.com`), `127.0.0.1:8080` or `[::1]:8080`, `*` (every public host).
 *
 * A name never gives access to a private address, whatever it resolves to; an address gives access to itself. To reach a private
 * address by its name, list both: `["db.example.com:5432", "10.0.0.5:5432"]`.
 *
 * @throws {KitbagError} `network-rule-invalid` if it is not one
 */
export function parseNetworkRule(text: string): NetworkRule {
  const refuse = (reason: string): never => {
    throw new KitbagError("network-rule-invalid", { rule: String(text), reason });
  };
  if (typeof text !== "string") return refuse("expected a text");
  if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(text)) return refuse("write the host alone, without scheme and path");
  if (/[/?#@]/u.test(text)) return refuse("write one host, without path, user or range of addresses");
  const any = parseAny(text);
  if (any !== undefined) return any;
  const isSuffix = text.startsWith("*.");
  if (!isSuffix && text.includes("*"))
    return refuse("a * stands alone, for every public host, or at the start, before a dot: *.example.com");
  const target = parseTarget(isSuffix ? text.slice(2) : text, 0);
  if ("wrong" in target) return refuse(target.wrong);
  const problem = findProblem(target, isSuffix);
  if (problem !== undefined) return refuse(problem);
  const kind = isSuffix ? "suffix" : target.kind;
  return { text, kind, host: target.host, ports: target.port === 0 ? defaultPorts : [target.port] };
}

/** `*` is every public host, `*:8443` the same with one port. */
function parseAny(text: string): NetworkRule | undefined {
  if (text === "*") return { text, kind: "any", host: "*", ports: defaultPorts };
  const port = text.startsWith("*:") ? parsePort(text.slice(2)) : undefined;
  return port === undefined ? undefined : { text, kind: "any", host: "*", ports: [port] };
}

/** Finds the rule that allows a target, if one does. */
export function findRule(rules: readonly NetworkRule[], { host, kind, port }: Target): NetworkRule | undefined {
  return rules.find((rule) => {
    if (!rule.ports.includes(port)) return false;
    if (rule.kind === "any") return kind === "name" || describeInnerAddress(host) === undefined;
    if (rule.kind === "suffix") return kind === "name" && host.endsWith(`.${rule.host}`);
    return rule.kind === kind && rule.host === host;
  });
}

function findProblem({ host, kind }: Target, isSuffix: boolean): string | undefined {
  if (kind === "address") return isSuffix ? "a * stands only before a name" : undefined;
  if (host === "localhost" || host.endsWith(".localhost")) {
    return "a name gives no access to this machine; write the address, such as 127.0.0.1:8080";
  }
  return isSuffix && !host.includes(".") ? "a * needs a name of at least two parts: *.example.com" : undefined;
}

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

/** Finds the addresses of a name, best first. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Why a connection does not come about. */
export interface Refusal {
  /** `rule`: no rule allows it. `address`: the name leads to where no name may lead. `name`: it has no address. */
  readonly kind: "rule" | "address" | "name";
  readonly reason: string;
}

/** The system's resolver. */
export const systemLookup: Lookup = async (name) => {
  const found = await lookupName(name, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
};

const mostAddresses = 8;

/**
 * Decides on a target and finds the addresses to dial. A name that no rule allows is never looked up, because a question to a
 * name server carries data too. The name is looked up once: dial only what is answered here.
 */
export async function resolveTarget(
  target: Target,
  rules: readonly NetworkRule[],
  lookup: Lookup,
): Promise<readonly string[] | Refusal> {
  if (findRule(rules, target) === undefined) {
    const name = showTarget(target);
    // No name gives access to this machine, so a rule with it would be refused.
    const rule = isThisMachine(target) ? showTarget({ ...target, host: "127.0.0.1" }) : name;
    const more = rule === name ? "" : " and use that address";
    return {
      kind: "rule",
      reason: `no rule allows ${name}; to allow it, add "${rule}" to the network permission${more}`,
    };
  }
  if (target.kind === "address") return [target.host];
  let found: readonly string[];
  try {
    found = await lookup(target.host);
  } catch (cause) {
    return { kind: "name", reason: `the name has no address (${describeCause(cause, 200)})` };
  }
  const addresses = found.map((address) => toAddress(address)).filter((address) => address !== undefined);
  if (addresses.length === 0) return { kind: "name", reason: "the name has no address" };
  const isGranted = (host: string): boolean =>
    describeInnerAddress(host) === undefined ||
    findRule(rules, { host, kind: "address", port: target.port }) !== undefined;
  const allowed = addresses.filter(isGranted).slice(0, mostAddresses);
  if (allowed.length > 0) return allowed;
  const [address = ""] = addresses;
  const cure = `list the address too (${showTarget({ host: address, kind: "address", port: target.port })}) to allow it`;
  return { kind: "address", reason: `the name leads to ${describeInnerAddress(address)}; ${cure}` };
}

function isThisMachine({ host }: Target): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

/** Writes a target as a rule would. */
export function showTarget({ host, port }: Target): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
