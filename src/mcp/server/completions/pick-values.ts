import { nearestNames } from "../../../core/nearest.ts";

/** So many values a client gets at most: the protocol allows no more. */
export const mostValues = 100;

/** Values for what is typed, and how many there are in all. */
export interface PickedValues {
  readonly values: readonly string[];
  readonly total: number;
  readonly hasMore: boolean;
}

const mostNearest = 10;

/**
 * Chooses the values that may be meant by what is typed: those that begin with it, then those that hold it, then those that are
 * like it. Among equals the order stays; upper and lower case are the same.
 */
export function pickValues(candidates: Iterable<string>, typed: string): PickedValues {
  const all = [...new Set(candidates)];
  const wanted = typed.toLowerCase();
  const begins = all.filter((value) => value.toLowerCase().startsWith(wanted));
  const holds = all.filter((value) => value.toLowerCase().indexOf(wanted) > 0);
  const picked = new Set([...begins, ...holds]);
  const near = nearestNames(
    typed,
    all.filter((value) => !picked.has(value)),
    mostNearest,
  );
  const values = [...picked, ...near];
  return { values: values.slice(0, mostValues), total: values.length, hasMore: values.length > mostValues };
}
