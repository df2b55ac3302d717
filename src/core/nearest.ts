/** Longer names are not compared. */
const longestName = 128;

/**
 * The names in `known` that a person or a model may have meant by `name`, nearest first; none if nothing is near. Equally near
 * ones are in the order of the alphabet.
 */
export function nearestNames(name: string, known: Iterable<string>, most = 3): string[] {
  const wanted = fold(name);
  if (wanted === "") return [];
  // One letter for another is no typing mistake in a name of one letter.
  const limit = wanted.length === 1 ? 0 : Math.max(1, Math.floor(wanted.length / 3));
  const found: { name: string; distance: number }[] = [];
  for (const candidate of known) {
    const distance = nameDistance(wanted, fold(candidate), limit);
    if (distance <= limit) found.push({ name: candidate, distance });
  }
  return found
    .toSorted((left, right) => left.distance - right.distance || (left.name < right.name ? -1 : 1))
    .slice(0, most)
    .map((match) => match.name);
}

/** Names differ in how they separate and capitalise words more often than in the words. */
function fold(name: string): string {
  return name.length > longestName ? "" : name.toLowerCase().replaceAll(/[\s_.\-/]+/gu, "");
}

function nameDistance(wanted: string, candidate: string, limit: number): number {
  if (wanted === candidate) return 0;
  // A name that is the beginning or the end of the other was most likely meant; one with more to it, perhaps.
  if (wanted.length >= 3 && (candidate.startsWith(wanted) || candidate.endsWith(wanted))) return 1;
  if (candidate.length >= 3 && (wanted.startsWith(candidate) || wanted.endsWith(candidate))) return limit;
  if (Math.abs(wanted.length - candidate.length) > limit) return limit + 1;
  return editDistance(wanted, candidate, limit);
}

/** Edits (insert, delete, replace, swap of neighbours) that turn one text into the other; more than `limit` if it takes more. */
function editDistance(left: string, right: string, limit: number): number {
  const width = right.length + 1;
  // The table of distances between all beginnings of both, row by row. Its size is known, so every place is there.
  const table = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number): number => table[row * width + column] as number;
  for (let row = 0; row <= left.length; row++) {
    let nearest = width + row;
    for (let column = 0; column <= right.length; column++) {
      let best = row + column;
      if (row > 0 && column > 0) {
        const replaced = at(row - 1, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
        best = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced);
        const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
        if (row > 1 && column > 1 && isSwapped) best = Math.min(best, at(row - 2, column - 2) + 1);
      }
      table[row * width + column] = best;
      nearest = Math.min(nearest, best);
    }
    // It only grows from here: most names are done with after a few letters. A swap reaches back over one row.
    if (nearest > limit + 1) return nearest;
  }
  return at(left.length, right.length);
}
