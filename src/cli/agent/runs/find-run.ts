import { KitbagError, quote } from "../../../core/errors.ts";
import { nearestNames } from "../../../core/nearest.ts";
import type { Store } from "../../../core/store.ts";
import { streamPrefix } from "../../../records/runs/run-records.ts";
import { usageError } from "../../usage-error.ts";

/**
 * Finds a run by its id, or by the beginning of it.
 *
 * @throws {KitbagError} `run-not-found` if there is none; `usage-invalid` if several begin like this.
 */
export async function findRun(store: Store, given: string): Promise<string> {
  const found = given === "" ? [] : await store.log.streams({ prefix: `${streamPrefix}${given}`, limit: 4 });
  const ids = found.map((stream) => stream.slice(streamPrefix.length));
  const [first, second] = ids;
  if (first === undefined)
    throw new KitbagError("run-not-found", { run: given, nearest: await findNearest(store, given) });
  if (first === given || second === undefined) return first;
  throw usageError(
    `Cannot tell which run ${quote(given)} is: ${ids.slice(0, 3).join(", ")} begin like this; type more of it`,
  );
}

/** So many runs are looked at to find out which one somebody meant. */
const manyRuns = 10_000;

/** The ids that begin almost like what somebody typed. */
async function findNearest(store: Store, given: string): Promise<readonly string[]> {
  if (given.length < 3) return [];
  const streams = await store.log.streams({ prefix: streamPrefix, limit: manyRuns });
  const ids = new Map(
    streams.map((stream) => stream.slice(streamPrefix.length)).map((id) => [id.slice(0, given.length), id]),
  );
  return nearestNames(given, ids.keys(), 2).map((beginning) => ids.get(beginning) ?? beginning);
}

/** The shortest beginning of each id, of 8 characters at least, that no other id has. */
export function shortenIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...ids].toSorted();
  return new Map(
    sorted.map((id, index) => {
      const shared = Math.max(sharedLength(id, sorted[index - 1]), sharedLength(id, sorted[index + 1]));
      return [id, id.slice(0, Math.max(8, shared + 1))];
    }),
  );
}

function sharedLength(id: string, other: string = ""): number {
  for (let length = 0; length < id.length; length += 1) if (id[length] !== other[length]) return length;
  return id.length;
}
