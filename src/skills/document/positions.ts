/** A place in a text; both count from 1. The column counts UTF-16 units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Finds lines and columns in one text. */
export interface Positions {
  at(offset: number): Position;
}

/** Makes a finder for `text`. Contract: looks at the text on first use only, then answers in logarithmic time. */
export function createPositions(text: string): Positions {
  let starts: number[] | undefined;
  return {
    at(offset) {
      starts ??= findLineStarts(text);
      const line = findLine(starts, offset);
      return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
    },
  };
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

function findLine(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
