import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import type { ExitStatus, SandboxProcess } from "../../sandbox/sandbox.ts";
import { createFrameReader, toFrame } from "./inside/wire/frames.ts";
import type { CallEnd, CallFacts, FromHost, HostSettings, ToHost } from "./inside/wire/messages.ts";

/** One call, as a host gets it, and who hears of it. */
export interface HostCall extends CallFacts {
  readonly digest: string;
  readonly input: Uint8Array;
  onStderr(bytes: Uint8Array): void;
  /** Answers what the module asks for. Never rejects. */
  onAsk(request: Uint8Array): Promise<Uint8Array>;
}

/** How a call ended, and what it printed. */
export interface HostResult {
  readonly end: CallEnd;
  readonly output: Uint8Array;
}

/** A host that runs. When it is gone, every call that it had is rejected with why, and it cannot be used any more. */
export interface HostConnection {
  hasModule(digest: string): boolean;
  sendModule(digest: string, bytes: Uint8Array): void;
  /** Ends when the host says so; when `signal` aborts, the host is told to end it, and is ended itself if it does not. */
  call(call: HostCall, signal: AbortSignal): Promise<HostResult>;
  readonly isGone: boolean;
  /** Resolves when it is gone. */
  readonly gone: Promise<HostEnd>;
  setHeld(held: boolean): void;
  kill(): void;
}

/** Why a host is gone. */
export interface HostEnd {
  readonly outOfMemory: boolean;
  readonly reason: string;
  /** Whether it was ready before, so that it makes sense to start another. */
  readonly wasReady: boolean;
}

/** A host is gone while it had a call. */
export class HostGone extends Error {
  readonly hostEnd: HostEnd;
  /** Whether the call may have done something. */
  readonly begun: boolean;

  constructor(hostEnd: HostEnd, begun: boolean) {
    super(hostEnd.reason);
    this.hostEnd = hostEnd;
    this.begun = begun;
  }
}

/** How many modules a host keeps. */
const maxModules = 32;
/** How long a host may take to end a call that must stop. */
const patienceMs = 2000;
/** What a host says before it dies begins with the reason; what follows is of no use to anybody here. */
const longestComplaint = 1000;

interface Pending extends HostCall {
  begun: boolean;
  resolve(result: HostResult): void;
  reject(cause: Error): void;
}

/** Speaks with a host that was started. What it says is checked: a module may have taken it over. */
export function connectHost(process: SandboxProcess, settings: HostSettings): HostConnection {
  const calls = new Map<number, Pending>();
  const modules = new Set<string>();
  const { outputBytes } = settings.limits;
  const read = createFrameReader<FromHost>(outputBytes + 64 * 1024);
  let nextId = 1;
  let complaint = "";
  let violation: string | undefined;
  let wasReady = false;
  let ended: HostEnd | undefined;

  function send(header: ToHost, payload?: Uint8Array): void {
    process.channel.write(toFrame(header, payload));
  }

  function hear(message: FromHost, payload: Uint8Array): void {
    if (message.type === "ready") {
      wasReady = true;
      return;
    }
    const { id } = message;
    const call = calls.get(id);
    if (call === undefined) return;
    switch (message.type) {
      case "begin":
        call.begun = true;
        break;
      case "stderr":
        call.onStderr(payload);
        break;
      case "ask":
        void call.onAsk(payload).then((answer) => send({ type: "answer", id }, answer));
        break;
      case "end":
        calls.delete(id);
        call.resolve({ end: message.end, output: payload });
        break;
    }
  }

  process.channel.on("data", (chunk: Buffer) => {
    try {
      for (const { header, payload } of read(chunk)) hear(header, payload);
    } catch (cause) {
      violation = `it said something that cannot be read (${String(cause)})`;
      process.kill();
    }
  });
  process.stdout.resume();
  process.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(0, longestComplaint);
  });
  const gone = process.exit.then(async (status) => {
    // What it said last may still be on its way.
    await Promise.race([endOf(process.stderr), sleep(100, undefined, { ref: false })]);
    const reason = [violation ?? describeExit(status), complaint.trim()].filter((text) => text !== "").join(": ");
    // A module with objects of its own can fill the heap of its thread, and V8 ends the whole process for that.
    const outOfMemory = status.outOfMemory === true || complaint.includes("heap out of memory");
    ended = { outOfMemory, wasReady, reason: `the host of WASM modules ended: ${reason}` };
    for (const call of calls.values()) call.reject(new HostGone(ended, call.begun));
    calls.clear();
    return ended;
  });
  send({ type: "start", ...settings });

  return {
    hasModule: (digest) => modules.has(digest),
    sendModule(digest, bytes) {
      const [oldest] = modules;
      if (modules.size >= maxModules && oldest !== undefined) {
        modules.delete(oldest);
        send({ type: "forget", digest: oldest });
      }
      modules.add(digest);
      send({ type: "module", digest }, bytes);
    },
    async call(call, signal) {
      if (ended !== undefined) throw new HostGone(ended, false);
      const id = nextId++;
      let patience: NodeJS.Timeout | undefined;
      const cancel = (): void => {
        send({ type: "cancel", id });
        patience = setTimeout(() => process.kill(), patienceMs);
      };
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return await new Promise<HostResult>((resolve, reject) => {
          calls.set(id, { ...call, begun: false, resolve, reject });
          send({ type: "call", id, digest: call.digest, args: call.args, environment: call.environment }, call.input);
        });
      } finally {
        clearTimeout(patience);
        signal.removeEventListener("abort", cancel);
      }
    },
    get isGone() {
      return ended !== undefined;
    },
    gone,
    setHeld: (held) => process.setHeld(held),
    kill: () => process.kill(),
  };
}

function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    else stream.once("close", resolve).once("end", resolve);
  });
}

function describeExit({ code, signal, outOfMemory }: ExitStatus): string {
  if (outOfMemory === true) return "it used more memory than it may";
  return signal === undefined ? `exit code ${code}` : `the signal ${signal}`;
}
