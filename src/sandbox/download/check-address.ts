import { describeCause, KitbagError } from "../../core/errors.ts";
import { describeInnerAddress, toAddress } from "../egress/address.ts";
import { parseHost, type Target } from "../egress/host.ts";
import { showTarget, systemLookup, type Lookup } from "../egress/resolve-target.ts";

/** Which addresses this process may fetch from. */
export interface Reach {
  /**
   * Hosts (`localhost`, `10.0.0.5:8080`) that may be private and need no encryption. An address counts also behind a name that leads
   * to it. @default none
   */
  readonly allowHosts?: readonly string[];
  /** Hosts that need no encryption, but must not be private. @default none */
  readonly plainHosts?: readonly string[];
  /** What to do if a host that was refused is meant. @default "allow the host if that is meant" */
  readonly cure?: string;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
}

/** A host that may be asked, and where it is. */
export interface CheckedAddress {
  readonly host: string;
  readonly port: number;
  /** Connect to these and to nothing else: the name may lead elsewhere the next time. */
  readonly addresses: readonly string[];
}

const ports: Readonly<Record<string, number>> = { "https:": 443, "http:": 80, "ssh:": 22, "git:": 9418 };

/** Schemes that protect what is sent from being read or changed on the way. */
const safeSchemes = new Set(["https:", "ssh:"]);

/**
 * Decides whether an address may be asked, and finds out where it is, once. A name or an address of this machine or of a private
 * network, and a connection that is not encrypted, only if the host was allowed.
 *
 * @throws {KitbagError} `network-refused`
 */
export async function checkAddress(url: URL, reach: Reach): Promise<CheckedAddress> {
  const target = checkTarget(url, reach);
  return { host: target.host, port: target.port, addresses: await findAddresses(target, reach) };
}

/**
 * Reads where a URL leads, as it is written: scheme, host and port. An address in it is checked; a name is by {@link findAddresses}.
 *
 * @throws {KitbagError} `network-refused`
 */
export function checkTarget(url: URL, reach: Reach): Target {
  const target = toTarget(url);
  if (!safeSchemes.has(url.protocol) && !isListed(target, [...(reach.allowHosts ?? []), ...(reach.plainHosts ?? [])])) {
    const reason = `${url.protocol.slice(0, -1)} is not encrypted; use https, or allow the host`;
    throw refused(showTarget(target), reason);
  }
  if (target.kind === "address") keepAllowed([target.host], target, reach);
  return target;
}

/**
 * Finds the addresses of a target that may be connected to.
 *
 * @throws {KitbagError} `network-refused` if it has none.
 */
export async function findAddresses(target: Target, reach: Reach): Promise<readonly string[]> {
  if (target.kind === "address") return keepAllowed([target.host], target, reach);
  const { lookup = systemLookup } = reach;
  try {
    const found = await lookup(target.host);
    return keepAllowed(
      found.map((address) => toAddress(address)).filter((address) => address !== undefined),
      target,
      reach,
    );
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw refused(showTarget(target), `the name has no address (${describeCause(cause, 200)})`, cause);
  }
}

/**
 * Lists the host and port of a URL that says by itself that it leads to this machine or into its network: who names it means it.
 * Nothing for a name, whatever it leads to.
 */
export function listInnerHost(url: URL): readonly string[] {
  return isInnerUrl(url) ? [showTarget(toTarget(url))] : [];
}

/** Tells whether a URL says by itself that it leads to this machine or into its network: from elsewhere it cannot be followed. */
export function isInnerUrl({ hostname }: URL): boolean {
  const host = parseHost(hostname);
  if ("wrong" in host) return false;
  if (host.kind === "address") return describeInnerAddress(host.host) !== undefined;
  return host.host === "localhost" || host.host.endsWith(".localhost");
}

/** @throws {KitbagError} `network-refused` */
export function toTarget(url: URL): Target {
  const host = parseHost(url.hostname);
  const port = url.port === "" ? ports[url.protocol] : Number(url.port);
  if ("wrong" in host) throw refused(url.host, host.wrong);
  if (port === undefined) throw refused(url.host, `${url.protocol} is not fetched from`);
  return { ...host, port };
}

/** A host is listed with its port, or for all of its ports. */
function isListed({ host, port, kind }: Target, listed: readonly string[]): boolean {
  const names = new Set([host, host.includes(":") ? `[${host}]` : host, showTarget({ host, port, kind })]);
  return listed.some((one) => names.has(one.toLowerCase()));
}

function keepAllowed(found: readonly string[], target: Target, reach: Reach): readonly string[] {
  const { allowHosts = [], cure = "allow the host if that is meant" } = reach;
  const isFree = isListed(target, allowHosts);
  const addresses = found.filter(
    (host) =>
      isFree ||
      describeInnerAddress(host) === undefined ||
      isListed({ host, port: target.port, kind: "address" }, allowHosts),
  );
  if (addresses.length > 0) return addresses;
  const [first] = found;
  const reason =
    first === undefined ? "the name has no address" : `it is ${describeInnerAddress(first) ?? "private"}; ${cure}`;
  throw refused(showTarget(target), reason);
}

function refused(target: string, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("network-refused", { target, reason }, { cause });
}
