import { toFailure, type ErrorDetails, type Failure } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { parseAddress, toAddress, type Address } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import { cutText } from "../../core/cut-text.ts";
import type { Entry, Found, Resolution } from "./registered-tool.ts";

interface Index {
  readonly byAddress: ReadonlyMap<string, Found>;
  readonly byName: ReadonlyMap<string, ReadonlySet<Found>>;
}

interface Request {
  readonly requested: string;
  /** The owner whose tools a bare name means first. */
  readonly from: string | undefined;
}

/** The longest text that an outcome repeats as the address that was asked for. */
const longestRequest = 200;

const noVersions: NonNullable<Found["versions"]> = new Map();

/**
 * Finds the tool that a text means which is no address in so many words: `plugin:owner/tool`, an address with a version, a bare
 * name that only one owner has. Several owners of a bare name are a failure that names them: none silently wins.
 */
export function resolveLoosely(
  { requested, from }: Request,
  index: Index,
  isAvailable: (entry: Entry) => boolean,
): Resolution {
  const shown = typeof requested === "string" ? cutText(requested, longestRequest) : showValue(requested);
  const address = readAddress(requested);
  if (address === undefined) {
    return { ok: false, requested: shown, failure: toFailure("address-invalid", { address: shown }) };
  }
  const candidates = findCandidates(address, address.version, from, index);
  const available = candidates.filter(({ entry }) => isAvailable(entry));
  const [first, ...others] = available.length > 0 ? available : candidates;
  if (first === undefined)
    return refuseVersion(shown, address, findCandidates(address, undefined, from, index)) ?? new NotFound(shown, index);
  if (others.length === 0) return first;
  const addresses = [first, ...others].map(({ entry }) => entry.address);
  return { ok: false, requested: shown, failure: toFailure("tool-ambiguous", { tool: shown, addresses }) };
}

/** Of a tool that has versions, the ones that there are. */
function refuseVersion(
  requested: string,
  { version: which }: Address,
  candidates: readonly Found[],
): Resolution | undefined {
  const [kept, ...others] = candidates.flatMap(({ entry, versions = noVersions }) =>
    versions.size === 0 && entry.tool.version === undefined
      ? []
      : [{ entry, labels: [...versions.keys(), entry.tool.version ?? "one without a version"] }],
  );
  if (which === undefined || kept === undefined || others.length > 0) return undefined;
  const { entry, labels } = kept;
  return {
    ok: false,
    requested,
    failure: toFailure("version-not-found", { address: entry.address, which, known: labels }),
  };
}

/** A class: an object with a getter of its own is collected late, and many ask for tools that are not there. */
class NotFound {
  readonly ok = false;
  readonly requested: string;
  readonly #index: Index;

  constructor(requested: string, index: Index) {
    this.requested = requested;
    this.#index = index;
  }

  /** To look for the nearest of many names takes time, and most who ask only want to know whether there is such a tool. */
  get failure(): Failure {
    return toFailure("tool-not-found", toolNotFound(this.requested, this.#index));
  }
}

/** The facts of `tool-not-found`, with the nearest names. */
export function toolNotFound(requested: string, index: Index): ErrorDetails["tool-not-found"] {
  const { byAddress, byName } = index;
  const address = requested.replace(/^plugin:/u, "").replace(/@.*$/u, "");
  const nearest = nearestNames(address, byAddress.keys());
  const count = byAddress.size;
  const missingOwner = findMissingOwner(address, index);
  if (nearest.length > 0) return { tool: requested, nearest, count, ...missingOwner };
  // The owner may be wrong and the name right.
  const names = nearestNames(address.slice(address.lastIndexOf("/") + 1), byName.keys());
  const addresses = names.flatMap((name) => [...(byName.get(name) as ReadonlySet<Found>)]);
  return { tool: requested, nearest: addresses.slice(0, 3).map(({ entry }) => entry.address), count, ...missingOwner };
}

/** The owner that an address names, if no tool is of an owner with this name or a similar one. */
function findMissingOwner(address: string, { byAddress }: Index): { readonly skill?: string } {
  const [owner = "", name] = address.split("/", 2);
  if (name === undefined) return {};
  const owners = new Set([...byAddress.values()].map(({ entry }) => entry.owner));
  return nearestNames(owner, owners, 1).length === 0 ? { skill: owner } : {};
}

function readAddress(text: string): Address | undefined {
  try {
    return parseAddress(text);
  } catch {
    return undefined;
  }
}

/** Those with the owner that was named; else the own tool, else the global one, else everybody's of this name. */
function findCandidates(
  { owner, name }: Address,
  version: string | undefined,
  from: string | undefined,
  index: Index,
): readonly Found[] {
  const { byAddress, byName } = index;
  const exact = (of: string | undefined): readonly Found[] => {
    const found = byAddress.get(toAddress(of, name));
    return found === undefined ? [] : [found];
  };
  const groups =
    owner === undefined
      ? [from === undefined ? [] : exact(from), exact(undefined), [...(byName.get(name) ?? [])]]
      : [exact(owner)];
  const fitting = groups.map((group) => (version === undefined ? group : group.flatMap((one) => pick(one, version))));
  return fitting.find((group) => group.length > 0) ?? [];
}

/** The tool itself if it has this version, or else an earlier one that is kept. */
function pick(found: Found, version: string): readonly Found[] {
  if (found.entry.tool.version === version) return [found];
  const earlier = found.versions?.get(version);
  return earlier === undefined ? [] : [earlier];
}
