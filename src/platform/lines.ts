/** Where the lines of a {@link createLineSplitter} go. */
export interface LineSink {
  /** The longest line, in bytes without its end. */
  readonly maxBytes: number;
  /** A line without its end. */
  onLine(line: Buffer): void;
  /** Whether a line that is too long is told in parts, of which none ends inside a character. @default false: it is dropped */
  readonly cuts?: boolean;
  /** Called once for each line that is dropped, as soon as it is too long. */
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
    if (sink.cuts === true) {
      const parts = cutUp(Buffer.concat([...held, piece]), sink.maxBytes);
      held = parts.splice(-1);
      heldBytes = held[0]?.length ?? 0;
      return parts.forEach((part) => sink.onLine(part));
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

/** Cuts a line into parts of at most `maxBytes`, at the beginning of a character if it is UTF-8: each has at most four bytes. */
function cutUp(line: Buffer, maxBytes: number): Buffer[] {
  const ends = [maxBytes, maxBytes - 1, maxBytes - 2, maxBytes - 3];
  const parts: Buffer[] = [];
  let rest = line;
  while (rest.length > maxBytes) {
    const end = ends.find((at) => at > 0 && ((rest[at] ?? 0) & 0xc0) !== 0x80) ?? maxBytes;
    parts.push(rest.subarray(0, end));
    rest = rest.subarray(end);
  }
  return [...parts, rest];
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
