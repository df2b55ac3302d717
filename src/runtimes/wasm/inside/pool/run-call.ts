import { wasiModule } from "../module/check-module.ts";
import { type CompiledModule, type GuestMemory, webAssembly } from "../module/web-assembly.ts";
import { CallEnded } from "../wasi/errno.ts";
import { type Guest, createGuest } from "../wasi/guest.ts";
import { createWasi, type Wasi } from "../wasi/wasi.ts";
import type { CallEnd, CallLimits, Root, Job } from "../wire/messages.ts";

/** Where a call runs, and how it reaches the rest of the world. */
export interface CallPlace {
  readonly roots: readonly Root[];
  readonly limits: CallLimits;
  writeError(bytes: Uint8Array): void;
  /** Waits for the answer; nothing else happens in this thread meanwhile. */
  ask(request: Uint8Array): Uint8Array;
}

/** Runs a module from its start to its end, in an instance of its own. */
export function runCall(module: CompiledModule, job: Job, place: CallPlace): CallResult {
  const { roots, limits, writeError, ask } = place;
  const guest = createGuest();
  const output = createOutput(limits.outputBytes, writeError);
  const askHost = (request: Uint8Array): Uint8Array => {
    output.count(request.length);
    return ask(request);
  };
  let wasi: Wasi | undefined;
  let memory: GuestMemory | undefined;
  try {
    wasi = createWasi({
      ...{ ...job, guest, roots, fileBytes: limits.fileBytes },
      ...{ writeOutput: output.write, writeError: output.writeError },
    });
    const imports = { [wasiModule]: wasi.imports, kitbag: kitbagImports(guest, askHost) };
    const { exports } = new webAssembly.Instance(module, imports);
    memory = exports["memory"] as GuestMemory;
    guest.attach(memory);
    (exports["_start"] as () => void)();
    return output.finish({ kind: "exit", code: 0 });
  } catch (cause) {
    return output.finish(toEnd(cause, memory?.buffer.byteLength ?? 0));
  } finally {
    wasi?.close();
  }
}

function toEnd(cause: unknown, memoryBytes: number): CallEnd {
  if (cause instanceof CallEnded) return cause.end;
  return { kind: "trap", reason: toReason(cause), memoryBytes };
}

function toReason(cause: unknown): string {
  if (cause instanceof webAssembly.RuntimeError) return cause.message;
  if (cause instanceof RangeError) return `call stack or memory exhausted (${cause.message})`;
  if (cause instanceof webAssembly.Exception) return "an uncaught exception";
  return cause instanceof Error ? cause.message : "something that is no error was thrown";
}

/** Sends a request to the process outside and waits for its answer. */
type Ask = (request: Uint8Array) => Uint8Array;

/**
 * The functions of the import module `kitbag`. `call` takes a request in JSON and answers with the length of the answer, which
 * `read` then copies: all at once, or piece by piece until it answers 0. Both answer -1 for a place outside the module's memory.
 */
function kitbagImports(guest: Guest, ask: Ask): Readonly<Record<string, (...values: never[]) => number>> {
  let answer: Uint8Array = new Uint8Array(0);
  let position = 0;

  return {
    call: (pointer: number, length: number) =>
      orMinusOne(() => {
        const request = guest.bytes(pointer, length).slice();
        answer = ask(request);
        position = 0;
        return answer.length;
      }),
    read: (pointer: number, room: number) =>
      orMinusOne(() => {
        const part = answer.subarray(position, position + (room >>> 0));
        guest.setBytes(pointer, part);
        position += part.length;
        return part.length;
      }),
  };
}

function orMinusOne(act: () => number): number {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError) return -1;
    throw cause;
  }
}

const flushBytes = 4096;
const flushMs = 100;

/** How a call ended, and what it printed. */
interface CallResult {
  readonly end: CallEnd;
  readonly output: Uint8Array;
}

/** What a module prints during one call. */
interface Output {
  write(bytes: Uint8Array): void;
  writeError(bytes: Uint8Array): void;
  /** Counts bytes that the module made its host handle in another way. */
  count(bytes: number): void;
  finish(end: CallEnd): CallResult;
}

/** Makes a place for all that a module prints, which ends the call at `maxBytes`. Errors are handed on in pieces. */
function createOutput(maxBytes: number, flushError: (bytes: Uint8Array) => void): Output {
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
