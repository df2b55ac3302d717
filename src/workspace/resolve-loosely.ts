import { isKitbagError, toFailure, type ErrorDetails } from "../core/errors.ts";
import { parseAddress, toAddress, type Address } from "../core/names.ts";
import { nearestNames } from "../core/nearest.ts";
import type { Entry, Resolution } from "./registry.ts";

interface Index {
  readonly byAddress: ReadonlyMap<string, Entry>;
  readonly byName: ReadonlyMap<string, ReadonlySet<Entry>>;
  readonly isAvailable: (entry: Entry) => boolean;
}

/**
 * Finds the tool that a text means which is no address in so many words: `plugin:owner/tool`, an address with a version, a bare
 * name that only one owner has. Several owners of a bare name are a failure that names them: none silently wins.
 */
export function resolveLoosely(requested: string, index: Index): Resolution {
  const address = readAddress(requested);
  if (address === undefined) {
    return { ok: false, requested, failure: toFailure("address-invalid", { address: requested }) };
  }
  const candidates = findCandidates(address, index);
  const available = candidates.filter(index.isAvailable);
  const [first, second] = available.length > 0 ? available : candidates;
  if (first === undefined) {
    return { ok: false, requested, failure: toFailure("tool-not-found", toolNotFound(requested, index.byAddress)) };
  }
  if (second === undefined) return { ok: true, entry: first };
  const addresses = (available.length > 0 ? available : candidates).map((entry) => entry.address);
  return { ok: false, requested, failure: toFailure("tool-ambiguous", { tool: requested, addresses }) };
}

/** The facts of `tool-not-found`, with the nearest names. */
export function toolNotFound(requested: string, known: ReadonlyMap<string, Entry>): ErrorDetails["tool-not-found"] {
  const bare = requested.slice(requested.lastIndexOf("/") + 1);
  const nearest = nearestNames(requested, known.keys());
  // The owner may be wrong and the name right.
  const byName =
    nearest.length > 0 ? [] : known.values().filter((entry) => nearestNames(bare, [entry.tool.name]).length > 0);
  return {
    tool: requested,
    nearest: nearest.length > 0 ? nearest : [...byName].slice(0, 3).map((entry) => entry.address),
    count: known.size,
  };
}

function readAddress(text: string): Address | undefined {
  try {
    return parseAddress(text);
  } catch (cause) {
    if (isKitbagError(cause, "address-invalid")) return undefined;
    throw cause;
  }
}

function findCandidates({ owner, name, version }: Address, { byAddress, byName }: Index): Entry[] {
  const exact = byAddress.get(toAddress(owner, name));
  const entries = exact !== undefined ? [exact] : owner === undefined ? [...(byName.get(name) ?? [])] : [];
  return version === undefined ? entries : entries.filter((entry) => entry.tool.version === version);
}
