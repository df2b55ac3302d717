/** No name that somebody means is longer; what is, is not compared. */
const longestName = 128;

/**
 * The names in `known` that a person or a model may have meant by `name`, nearest first; none if nothing is near. Equally near
 * ones are in the order of the alphabet.
 */
export function nearestNames(name: string, known: Iterable<string>, most = 3): string[] {
  const wanted = fold(name);
  if (wanted === "") return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
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
  return editDistance(wanted, candidate);
}

/** Edits (insert, delete, replace, swap of neighbours) that turn one text into the other. */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      let best = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, replaced);
      const swapped = row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
