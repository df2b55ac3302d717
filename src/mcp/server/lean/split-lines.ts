import { PassThrough, type Readable } from "node:stream";

/** A longer line is no plain request: it is handed on as it comes, and the SDK says what it thinks of it. */
const longestLine = 1024 * 1024;

/** The lines of a stream that nobody took. */
export interface RestOfLines {
  readonly stream: Readable;
  /** Puts a line back that was taken. */
  giveBack(line: Buffer): void;
  /** Stops reading until the promise is over. */
  holdUntil(over: Promise<unknown>): void;
  /** Ends it, and leaves the input alone. */
  stop(): void;
}

/** Shows each whole line of `input` to `take`, with its end; those that it does not take are the rest, byte for byte. */
export function splitLines(input: Readable, take: (line: Buffer) => boolean): RestOfLines {
  const stream = new PassThrough();
  let begun: Buffer[] = [];
  let size = 0;
  let isLong = false;
  let holds = 0;

  function holdUntil(over: Promise<unknown>): void {
    holds += 1;
    input.pause();
    const release = (): void => {
      holds -= 1;
      if (holds === 0) input.resume();
    };
    over.then(release, release);
  }

  function pass(bytes: Buffer): void {
    if (!stream.write(bytes)) holdUntil(new Promise((resolve) => stream.once("drain", resolve)));
  }

  function endLine(piece: Buffer): void {
    const line = begun.length === 0 ? piece : Buffer.concat([...begun, piece]);
    if (isLong || !take(line)) pass(line);
    begun = [];
    size = 0;
    isLong = false;
  }

  function keep(piece: Buffer): void {
    begun.push(piece);
    size += piece.length;
    if (!isLong && size <= longestLine) return;
    isLong = true;
    for (const part of begun.splice(0)) pass(part);
  }

  function onData(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      endLine(chunk.subarray(start, end + 1));
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }

  function onEnd(): void {
    for (const part of begun.splice(0)) stream.write(part);
    stream.end();
  }
  const onError = (cause: Error): void => void stream.destroy(cause);

  input.on("data", onData);
  input.on("end", onEnd);
  input.on("close", onEnd);
  input.on("error", onError);
  return {
    stream,
    giveBack: pass,
    holdUntil,
    stop() {
      input.off("data", onData);
      input.off("end", onEnd);
      input.off("close", onEnd);
      input.off("error", onError);
      input.pause();
      stream.end();
    },
  };
}
