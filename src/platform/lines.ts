/** Where the lines of a {@link createLineSplitter} go. */
export interface LineSink {
  /** The longest line, in bytes without its end. */
  readonly maxBytes: number;
  /** A line without its end. */
  onLine(line: Buffer): void;
  /** Called once for each line that is too long, as soon as it is; all of it is dropped. */
  onTooLong?(): void;
}

/** Cuts bytes that come in pieces into lines. */
export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** The input is over: what came after the last line end, if anything did, is a line, too. */
  end(): void;
}

/** Makes a splitter. It never holds more than one line of the longest length. */
export function createLineSplitter(sink: LineSink): LineSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isDropping = false;

  function hold(piece: Buffer): void {
    if (isDropping || piece.length === 0) return;
    heldBytes += piece.length;
    if (heldBytes <= sink.maxBytes) {
      held.push(piece);
      return;
    }
    isDropping = true;
    held = [];
    sink.onTooLong?.();
  }

  function endLine(): void {
    const line = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
    const wasDropped = isDropping;
    held = [];
    heldBytes = 0;
    isDropping = false;
    if (!wasDropped) sink.onLine(line);
  }

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        hold(bytes.subarray(start, end));
        endLine();
        start = end + 1;
      }
      hold(bytes.subarray(start));
    },
    end() {
      if (heldBytes > 0) endLine();
    },
  };
}

/**
 * Reads the lines of a stream as text, without their ends.
 *
 * @throws {RangeError} if a line is longer than `maxBytes`. The lines before it were read.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<string, undefined> {
  let lines: string[] = [];
  let isTooLong = false;
  const splitter = createLineSplitter({
    maxBytes,
    onLine(line) {
      if (!isTooLong) lines.push(line.toString("utf8"));
    },
    onTooLong() {
      isTooLong = true;
    },
  });
  function take(): readonly string[] {
    const taken = lines;
    lines = [];
    return taken;
  }
  for await (const chunk of source) {
    splitter.push(chunk);
    yield* take();
    if (isTooLong) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
  splitter.end();
  yield* take();
}
