import type { Readable } from "node:stream";

import type { ExitStatus, Profile, Sandbox } from "../../sandbox/sandbox.ts";

/** A program that is run once, and what it may use. */
export interface SandboxedRun {
  readonly sandbox: Sandbox;
  readonly profile: Profile;
  readonly command: readonly string[];
  readonly limitMs: number;
  /** The most that it may write to standard output. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The result of the compiler. */
export interface SandboxedResult {
  readonly exit: ExitStatus;
  readonly stdout: Uint8Array;
  /** The beginning of what it wrote to standard error. */
  readonly stderr: string;
  /** Why it was stopped, if it was. */
  readonly stopped?: "time" | "output" | "messages";
}

/** Errors are at the beginning, and a reader stops somewhere. */
const keptMessageBytes = 64 * 1024;
const maxMessageBytes = 8 * 1024 * 1024;

/**
 * Runs a program in a sandbox to its end.
 *
 * **Contract**: nothing of it runs any more when this resolves. Rejects if the sandbox refuses it, or with the signal's reason.
 */
export async function runSandboxed(run: SandboxedRun): Promise<SandboxedResult> {
  run.signal?.throwIfAborted();
  const process = await run.sandbox.start(run.profile, run.command, "");
  let stopped: SandboxedResult["stopped"];
  const stop = (reason: SandboxedResult["stopped"]): void => {
    stopped ??= reason;
    process.kill();
  };
  const clock = setTimeout(() => stop("time"), run.limitMs);
  const onAbort = (): void => process.kill();
  run.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const [stdout, stderr, exit] = await Promise.all([
      collect(process.stdout, { kept: run.maxBytes, most: run.maxBytes, onMore: () => stop("output") }),
      collect(process.stderr, { kept: keptMessageBytes, most: maxMessageBytes, onMore: () => stop("messages") }),
      process.exit,
    ]);
    run.signal?.throwIfAborted();
    return { exit, stdout, stderr: new TextDecoder().decode(stderr), ...(stopped !== undefined && { stopped }) };
  } finally {
    clearTimeout(clock);
    run.signal?.removeEventListener("abort", onAbort);
    process.channel.destroy();
  }
}

interface Collecting {
  readonly kept: number;
  readonly most: number;
  onMore(): void;
}

/** Reads a stream to its end, whatever comes: an unread pipe would hold the program up. */
async function collect(stream: Readable, { kept, most, onMore }: Collecting): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Uint8Array>) {
    if (bytes < kept) pieces.push(piece.subarray(0, kept - bytes));
    bytes += piece.length;
    if (bytes > most) onMore();
  }
  return Buffer.concat(pieces);
}
