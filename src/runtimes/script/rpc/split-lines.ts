/** What becomes of the bytes of a channel. */
export interface LineSplitter {
  push(piece: Buffer): void;
}

/** Where lines go. */
export interface LineSink {
  readonly maxBytes: number;
  onLine(line: Buffer): void;
  /** Called once for a line that is too long; all of it is dropped. */
  onTooLong(): void;
}

/** Cuts bytes that come in pieces into lines. Never keeps more than one line of the longest length. */
export function createLineSplitter(sink: LineSink): LineSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isDropping = false;

  function hold(piece: Buffer): void {
    if (isDropping || piece.length === 0) return;
    if (heldBytes + piece.length > sink.maxBytes) {
      isDropping = true;
      held = [];
      heldBytes = 0;
      sink.onTooLong();
      return;
    }
    held.push(piece);
    heldBytes += piece.length;
  }

  function end(): void {
    const line = held.length === 1 ? held[0] : Buffer.concat(held);
    const wasDropped = isDropping;
    held = [];
    heldBytes = 0;
    isDropping = false;
    if (!wasDropped && line !== undefined && line.length > 0) sink.onLine(line);
  }

  return {
    push(piece) {
      let start = 0;
      for (let next = piece.indexOf(10); next !== -1; next = piece.indexOf(10, start)) {
        hold(piece.subarray(start, next));
        end();
        start = next + 1;
      }
      hold(piece.subarray(start));
    },
  };
}
