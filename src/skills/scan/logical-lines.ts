/** A line of a script as an interpreter sees it. */
export interface LogicalLine {
  readonly text: string;
  /** The line of the file on which it begins; counts from 1. */
  readonly line: number;
}

/** No rule looks further than this; longer lines are cut into pieces that overlap. */
const longestPiece = 4000;
const overlap = 400;
const mostJoined = 10;

/**
 * Reads a text in lines, and joins those that a script continues: with a backslash or a backtick at the end, or with a pipe at
 * the beginning of the next. Contract: takes time in proportion to the text.
 */
export function* readLogicalLines(text: string): Generator<LogicalLine> {
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const start = index;
    let joined = lines[index] ?? "";
    while (index + 1 < lines.length && index - start < mostJoined && joined.length < longestPiece) {
      const next = lines[index + 1] ?? "";
      const goesOn = endsOpen(joined);
      if (!goesOn && !startsAsPart(next)) break;
      joined = `${goesOn ? joined.trimEnd().slice(0, -1) : joined} ${next.trim()}`;
      index++;
    }
    yield* cut(joined, start + 1);
  }
}

function endsOpen(line: string): boolean {
  const text = line.trimEnd();
  return (text.endsWith("\\") || text.endsWith("`")) && /(?:^|\s)[\\`]$/u.test(text.slice(-2));
}

/** A pipe, unless it is the first of a table's row. */
function startsAsPart(line: string): boolean {
  const text = line.trim();
  return text.startsWith("&&") || (text.startsWith("|") && !text.endsWith("|"));
}

function* cut(text: string, line: number): Generator<LogicalLine> {
  if (text.length <= longestPiece) {
    if (text.trim() !== "") yield { text, line };
    return;
  }
  for (let offset = 0; offset < text.length; offset += longestPiece - overlap) {
    yield { text: text.slice(offset, offset + longestPiece), line };
  }
}
