import { lookup as lookupName } from "node:dns/promises";

import { describeCause } from "../../core/errors.ts";
import { describeInnerAddress, toAddress } from "./address.ts";
import type { Target } from "./host.ts";
import { findRule, type NetworkRule } from "./network-rule.ts";

/** Finds the addresses of a name, best first. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Why a connection does not come about. */
export interface Refusal {
  /** `rule`: nobody allowed it. `address`: the name leads to where no name may lead. `name`: it has no address. */
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
