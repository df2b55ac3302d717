/** A longer line is no plain request: it is handed on as it comes, and the SDK says what it thinks of it. */
const longestLine = 1024 * 1024;

/** What gets the lines. */
export interface LineTaker {
  /** A whole line, with its end. */
  onLine(line: Buffer): void;
  /** A piece of a line that is too long, or that has no end. */
  onPiece(piece: Buffer): void;
}

/** Cuts chunks into lines. */
export interface LineCutter {
  add(chunk: Buffer): void;
  /** Hands on what has no end yet. */
  finish(): void;
}

/** Makes what cuts chunks into lines, byte for byte. */
export function createLineCutter({ onLine, onPiece }: LineTaker): LineCutter {
  let begun: Buffer[] = [];
  let size = 0;
  let isLong = false;

  function finish(): void {
    for (const piece of begun) onPiece(piece);
    begun = [];
  }

  function endLine(last: Buffer): void {
    if (isLong) onPiece(last);
    else onLine(begun.length === 0 ? last : Buffer.concat([...begun, last]));
    begun = [];
    size = 0;
    isLong = false;
  }

  return {
    finish,
    add(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        endLine(chunk.subarray(start, end + 1));
        start = end + 1;
      }
      if (start === chunk.length) return;
      begun.push(chunk.subarray(start));
      size += chunk.length - start;
      isLong ||= size > longestLine;
      if (isLong) finish();
    },
  };
}
