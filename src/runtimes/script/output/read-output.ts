import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";

import { createLineSplitter, type LineSplitter } from "../../../platform/lines.ts";

/** How to read what a program prints. */
export interface ReadOptions {
  /** How many of the last bytes are kept, if not all of them need be. */
  readonly keptBytes: number;
  /** How much it may print at all. */
  readonly maxBytes: number;
  /** Gets each piece as text, as it comes. */
  readonly onText?: (text: string) => void;
  /** Called once, when there is more than `maxBytes`. */
  readonly onFlood: () => void;
}

/** What a program has printed. */
export interface Output {
  /** Everything that is kept, as text; bytes that are no UTF-8 are replaced. */
  text(): string;
  /** Whether all that is kept is UTF-8. */
  isText(): boolean;
  /** Resolves when there is no more. Never rejects. */
  readonly ended: Promise<void>;
  /** Stops waiting for more: resolves when nothing came for a moment. */
  settle(): Promise<void>;
}

/** How long to wait for a process that holds the pipe open after the program ended: 150 ms. */
const looks = 6;

/** Reads what a program prints, while it runs. */
export function readOutput(stream: Readable, options: ReadOptions): Output {
  const { maxBytes, onText, onFlood } = options;
  const kept = createTail(options.keptBytes);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let total = 0;

  function take(piece: Buffer): void {
    const left = maxBytes - total;
    total += piece.length;
    if (left < 0) return;
    const part = piece.subarray(0, left);
    kept.push(part);
    onText?.(decoder.decode(part, { stream: true }));
    if (piece.length > left) onFlood();
  }

  function finish(): void {
    const rest = decoder.decode();
    if (rest !== "") onText?.(rest);
    resolve();
  }

  stream.on("data", take);
  // A pipe that breaks has nothing more to say either.
  for (const event of ["end", "close", "error"]) stream.once(event, finish);

  async function settle(): Promise<void> {
    let before = total;
    const wasBusy = (): boolean => {
      const isBusy = total > before;
      before = total;
      return isBusy;
    };
    await waitForEnd(ended, { looks, wasBusy });
    stream.destroy();
  }

  return { text: () => kept.bytes().toString("utf8"), isText: () => isUtf8(kept.bytes()), ended, settle };
}

/** The longest line that is logged in one piece. */
const longestLine = 8000;

/** Logs the lines of what a program writes to standard error, but for empty ones, until `maxBytes` were logged. */
export function createLineLog(log: (line: string) => void, maxBytes: number = Infinity): LineSplitter {
  let left = maxBytes;
  return createLineSplitter({
    maxBytes: longestLine,
    cuts: true,
    onLine(bytes) {
      if (left <= 0) return;
      left -= bytes.length + 1;
      const line = bytes.toString("utf8").replace(/\r$/u, "");
      if (line.trim() !== "") log(line);
      if (left <= 0) log("… there was more on stderr than is shown");
    },
  });
}

/** Keeps at least the last `most` bytes of what comes in pieces. */
export function createTail(most: number): { push(piece: Uint8Array): void; bytes(): Buffer } {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    push(piece) {
      pieces.push(piece);
      size += piece.length;
      while (pieces.length > 1 && size - (pieces[0]?.length ?? 0) >= most) size -= pieces.shift()?.length ?? 0;
    },
    bytes: () => Buffer.concat(pieces),
  };
}

/** How often is looked whether something came, in milliseconds. */
const lookEveryMs = 25;

/** How to wait for the end of what a program says, after the program itself has ended. */
interface Patience {
  /** How many looks in a row find nothing before a process is taken to hold the pipe open. */
  readonly looks: number;
  /** Whether something came since the last look. */
  readonly wasBusy: () => boolean;
}

/**
 * Resolves when `ended` does, or when nothing came for a while. A look counts only after the event loop has read whatever was
 * there: a process that is too busy to read must not take that for silence.
 */
export function waitForEnd(ended: Promise<void>, { looks, wasBusy }: Patience): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let quiet = 0;
  const look = (): void => {
    quiet = wasBusy() ? 0 : quiet + 1;
    if (quiet >= looks) resolve();
  };
  // An immediate runs right after the loop has looked for what can be read.
  const timer = setInterval(() => setImmediate(look), lookEveryMs);
  void ended.then(resolve);
  return promise.finally(() => clearInterval(timer));
}
