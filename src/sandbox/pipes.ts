import { execFile } from "node:child_process";
import { chmodSync, closeSync, constants, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { promisify } from "node:util";

const run = promisify(execFile);
const namesAtATime = 32;

/** What a program writes to: the end that is read here, and the descriptor to hand on. */
export interface OutputPipe {
  readonly stream: Readable;
  readonly descriptor: number;
}

/** What a program reads from. */
export interface InputFile {
  readonly descriptor: number;
  /** Writes all there is to read; call it at most once, and before the program reads. Does nothing after {@link close}. */
  fill(input: string | Uint8Array): void;
  close(): void;
}

/**
 * Makes the standard streams of programs. Node would give them sockets, which cannot be opened as `/dev/stdin` or `/dev/stderr`;
 * many scripts do just that.
 */
export interface Pipes {
  openOutput(): Promise<OutputPipe>;
  openInput(): InputFile;
}

/** Makes the standard streams of programs out of files in `directory`, which only this user may enter. */
export function createPipes(directory: string): Pipes {
  let made = 0;
  const names = createBatches(async () => {
    const batch = Array.from({ length: namesAtATime }, () => join(directory, `pipe-${made++}`));
    await makeFifos(batch);
    // The program may be another user and may open its own end again; no other user can enter the directory.
    for (const name of batch) chmodSync(name, 0o622);
    return batch;
  });

  return {
    async openOutput() {
      const name = await names.take();
      const own = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
      const descriptor = openSync(name, constants.O_WRONLY);
      unlinkSync(name);
      return { stream: new Socket({ fd: own, readable: true, writable: false }), descriptor };
    },
    openInput() {
      const name = join(directory, `input-${made++}`);
      const own = openSync(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
      const descriptor = openSync(name, constants.O_RDONLY);
      unlinkSync(name);
      let isOpen = true;
      return {
        descriptor,
        fill(input) {
          // After the close, the number may be that of another file.
          if (isOpen) fill(own, input);
        },
        close() {
          if (isOpen) closeSync(own);
          isOpen = false;
        },
      };
    },
  };
}

/** Things that are made many at a time, and used one at a time. */
export interface Batches {
  take(): Promise<string>;
  /** Lets one be used again. */
  giveBack(item: string): void;
}

/** Hands out what `make` makes, which is asked for more when nothing is left. */
export function createBatches(make: () => Promise<readonly string[]>): Batches {
  const ready: string[] = [];
  let making: Promise<unknown> | undefined;
  return {
    async take() {
      for (;;) {
        const item = ready.pop();
        if (item !== undefined) return item;
        making ??= make()
          .then((items) => ready.push(...items))
          .finally(() => (making = undefined));
        await making;
      }
    },
    giveBack: (item) => void ready.push(item),
  };
}

/** Makes named pipes. */
export async function makeFifos(names: readonly string[]): Promise<void> {
  await run("mkfifo", names);
}

function fill(descriptor: number, input: string | Uint8Array): void {
  const bytes = typeof input === "string" ? Buffer.from(input) : input;
  for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
}
