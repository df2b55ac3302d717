import { PassThrough, type Readable } from "node:stream";

import { createLineCutter } from "./cut-lines.ts";

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

  const cutter = createLineCutter({
    onLine(line) {
      if (!take(line)) pass(line);
    },
    onPiece: pass,
  });
  const onEnd = (): void => {
    if (stream.writableEnded) return;
    cutter.finish();
    stream.end();
  };
  const listeners = {
    data: cutter.add,
    end: onEnd,
    close: onEnd,
    error: (cause: Error): void => void stream.destroy(cause),
  };
  for (const [event, listener] of Object.entries(listeners)) input.on(event, listener);

  return {
    stream,
    giveBack: pass,
    holdUntil,
    stop() {
      for (const [event, listener] of Object.entries(listeners)) input.off(event, listener);
      input.pause();
      stream.end();
    },
  };
}
