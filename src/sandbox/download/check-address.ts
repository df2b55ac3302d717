import { describeCause, KitbagError } from "../../core/errors.ts";
import { describeInnerAddress, toAddress } from "../egress/address.ts";
import { parseHost } from "../egress/host.ts";
import { showTarget, systemLookup, type Lookup } from "../egress/resolve-target.ts";

/** Which addresses this process may fetch from. */
export interface Reach {
  /** Hosts (`localhost`, `10.0.0.5:8080`) that may be private and need no encryption. @default none */
  readonly allowHosts?: readonly string[];
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

/** Schemes that nobody on the way can read or change. */
const safeSchemes = new Set(["https:", "ssh:"]);

/**
 * Decides whether an address may be asked, and finds out where it is, once. A name or an address of this machine or of a private
 * network, and a connection that is not encrypted, only if the host was allowed.
 *
 * @throws {KitbagError} `network-refused`
 */
export async function checkAddress(
  url: URL,
  { allowHosts = [], lookup = systemLookup }: Reach,
): Promise<CheckedAddress> {
  const host = parseHost(url.hostname);
  const port = url.port === "" ? ports[url.protocol] : Number(url.port);
  if ("wrong" in host) throw refused(url.host, host.wrong);
  if (port === undefined) throw refused(url.host, `${url.protocol} is not fetched from`);
  const target = showTarget({ ...host, port });
  const names = new Set([url.hostname.toLowerCase(), host.host, target]);
  const isAllowed = allowHosts.some((allowed) => names.has(allowed.toLowerCase()));
  if (!isAllowed && !safeSchemes.has(url.protocol)) {
    throw refused(target, `${url.protocol.slice(0, -1)} is not encrypted; use https, or allow the host`);
  }
  const found = host.kind === "address" ? [host.host] : await findAddresses(host.host, lookup);
  const addresses = isAllowed ? found : found.filter((address) => describeInnerAddress(address) === undefined);
  if (addresses.length > 0) return { host: host.host, port, addresses };
  const [first] = found;
  if (first === undefined) throw refused(target, "the name has no address");
  throw refused(target, `it is ${describeInnerAddress(first) ?? "private"}; allow the host if that is meant`);
}

async function findAddresses(name: string, lookup: Lookup): Promise<string[]> {
  try {
    const found = await lookup(name);
    return found.map((address) => toAddress(address)).filter((address) => address !== undefined);
  } catch (cause) {
    throw refused(name, `the name has no address (${describeCause(cause, 200)})`, cause);
  }
}

function refused(target: string, reason: string, cause?: unknown): KitbagError {
  return new KitbagError("network-refused", { target, reason }, { cause });
}
