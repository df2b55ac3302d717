/** The keys of a map in the order of their code points. Costs nothing until the first question. */
export interface SortedKeys {
  /** Must be told of each key that was added or removed. */
  changed(key: string): void;
  /** Where the keys from `key` on begin in {@link SortedKeys.all}. */
  indexOf(key: string): number;
  /** Never changed afterwards: a later answer is another list. */
  all(): readonly string[];
}

/** Below this many changes it is not worth while to sort from scratch. */
const fewChanges = 1000;

/** Makes the order of the keys of `map`. */
export function createSortedKeys(map: ReadonlyMap<string, unknown>): SortedKeys {
  let sorted: readonly string[] | undefined;
  const changes = new Set<string>();

  function all(): readonly string[] {
    if (sorted && changes.size === 0) return sorted;
    const old = sorted?.filter((key) => !changes.has(key)) ?? [];
    const fresh = sorted ? [...changes].filter((key) => map.has(key)) : [...map.keys()];
    // Two sorted runs are merged by toSorted() in one pass.
    sorted = [...old, ...fresh.toSorted(compareCodePoints)].toSorted(compareCodePoints);
    changes.clear();
    return sorted;
  }

  return {
    all,
    changed(key) {
      if (!sorted) return;
      changes.add(key);
      if (changes.size <= fewChanges + map.size / 2) return;
      // The keys have not been read for a long time: holding on to the old list would only cost memory.
      sorted = undefined;
      changes.clear();
    },
    indexOf(key) {
      const keys = all();
      let low = 0;
      let high = keys.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (compareCodePoints(keys[middle] as string, key) < 0) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

/** Compares two well-formed texts by code points; `<` compares by code units, which differs above U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    // Surrogates stand for the highest code points, though their units are below U+E000.
    if (isSurrogate(a) !== isSurrogate(b)) return isSurrogate(a) ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

const lastCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const afterSurrogates = 0xe000;

/** Comes after every key there can be: none has so many characters of this kind. */
const afterAll = String.fromCodePoint(lastCodePoint).repeat(257);

/**
 * Finds a text that comes after all keys with this prefix, and before all others that come after them, in the order of code
 * points. With it an index is read from the prefix to the end and no further.
 */
export function toPrefixEnd(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return afterAll;
  const next = last + 1 === firstSurrogate ? afterSurrogates : last + 1;
  return String.fromCodePoint(...points, next);
}
