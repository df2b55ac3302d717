import { CallEnded } from "../wasi/call-ended.ts";
import type { CallEnd } from "../wire/messages.ts";

const flushBytes = 4096;
const flushMs = 100;

/** How a call ended, and what it printed. */
export interface CallResult {
  readonly end: CallEnd;
  readonly output: Uint8Array;
}

/** What a module prints during one call. */
export interface Output {
  write(bytes: Uint8Array): void;
  writeError(bytes: Uint8Array): void;
  /** Counts bytes that the module made its host handle in another way. */
  count(bytes: number): void;
  finish(end: CallEnd): CallResult;
}

/** Makes a place for all that a module prints, which ends the call at `maxBytes`. Errors are handed on in pieces. */
export function createOutput(maxBytes: number, flushError: (bytes: Uint8Array) => void): Output {
  const parts: Uint8Array[] = [];
  let errors: Uint8Array[] = [];
  let errorBytes = 0;
  let flushedAt = performance.now();
  let used = 0;
  // A module can catch what ends it, and go on; how it ended stays as it was.
  let ended: CallEnd | undefined;

  function count(bytes: number): void {
    used += bytes;
    if (used <= maxBytes) return;
    ended ??= { kind: "flooded" };
    throw new CallEnded(ended);
  }

  function flush(): void {
    if (errorBytes === 0) return;
    flushError(join(errors));
    errors = [];
    errorBytes = 0;
    flushedAt = performance.now();
  }

  return {
    write(bytes) {
      count(bytes.length);
      parts.push(bytes.slice());
    },
    writeError(bytes) {
      count(bytes.length);
      errors.push(bytes.slice());
      errorBytes += bytes.length;
      if (errorBytes >= flushBytes || performance.now() - flushedAt >= flushMs) flush();
    },
    count,
    finish(end) {
      flush();
      return { end: ended ?? end, output: join(parts) };
    },
  };
}

/** Joins parts to bytes with memory of their own, which can be posted to another thread as they are. */
function join(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}
