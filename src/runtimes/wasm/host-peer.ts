import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { ExitStatus, SandboxProcess } from "../../sandbox/sandbox.ts";
import { createFrameReader, toFrame } from "./inside/wire/frames.ts";
import type { FromHost, ToHost } from "./inside/wire/messages.ts";

/** Why a host is gone. */
export interface HostEnd {
  readonly outOfMemory: boolean;
  readonly reason: string;
  /** Whether it was ready before, so that it makes sense to start another. */
  readonly wasReady: boolean;
}

/** A host, as messages. */
export interface HostPeer {
  send(header: ToHost, payload?: Uint8Array): void;
  /** Resolves when it is gone, with why. */
  readonly gone: Promise<HostEnd>;
}

/** What a host says before it dies begins with the reason; what follows is of no use to anybody here. */
const longestComplaint = 1000;

/**
 * Speaks with a host in frames of at most `maxBytes`. A module may have taken it over: one that says what cannot be read is ended.
 */
export function openPeer(
  process: SandboxProcess,
  maxBytes: number,
  hear: (message: Exclude<FromHost, { type: "ready" }>, payload: Uint8Array) => void,
): HostPeer {
  const read = createFrameReader<FromHost>(maxBytes);
  let complaint = "";
  let violation: string | undefined;
  let wasReady = false;

  process.channel.on("data", (chunk: Buffer) => {
    try {
      for (const { header, payload } of read(chunk)) {
        if (header.type === "ready") wasReady = true;
        else hear(header, payload);
      }
    } catch (cause) {
      violation = `it said something that cannot be read (${String(cause)})`;
      process.kill();
    }
  });
  process.stdout.resume();
  process.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(0, longestComplaint);
  });

  async function waitForEnd(): Promise<HostEnd> {
    const status = await process.exit;
    // What it said last may still be on its way.
    await Promise.race([endOf(process.stderr), sleep(100)]);
    const reason = [violation ?? describeExit(status), complaint.trim()].filter((text) => text !== "").join(": ");
    // A module with objects of its own can fill the heap of its thread, and V8 ends the whole process for that.
    const outOfMemory = status.outOfMemory === true || complaint.includes("heap out of memory");
    return { outOfMemory, wasReady, reason: `the host of WASM modules ended: ${reason}` };
  }

  return { send: (header, payload) => void process.channel.write(toFrame(header, payload)), gone: waitForEnd() };
}

function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    else stream.once("close", resolve).once("end", resolve);
  });
}

function describeExit({ code, signal, outOfMemory, replaced }: ExitStatus): string {
  if (replaced !== undefined) return `${replaced} is shielded, and was replaced while it ran`;
  if (outOfMemory === true) return "it used more memory than it may";
  return signal === undefined ? `exit code ${code}` : `the signal ${signal}`;
}
