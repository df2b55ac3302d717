import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { describeExit, type SandboxProcess } from "../../sandbox/sandbox.ts";
import { createFrameReader, toFrame } from "./inside/wire/frames.ts";
import type { CallEnd, CallFacts, FromHost, HostSettings, ToHost } from "./inside/wire/messages.ts";

/** Why a host is gone. */
interface HostEnd {
  readonly outOfMemory: boolean;
  readonly reason: string;
  /** Whether it was ready before, so that it makes sense to start another. */
  readonly wasReady: boolean;
}

/** A host, as messages. */
interface HostPeer {
  send(header: ToHost, payload?: Uint8Array): void;
  /** Resolves when it is gone, with why. */
  readonly gone: Promise<HostEnd>;
}

/** What a host says before it dies begins with the reason; what follows is not needed here. */
const longestComplaint = 1000;

/**
 * Speaks with a host in frames of at most `maxBytes`. A module may have taken it over: one that says what cannot be read is ended.
 */
function openPeer(
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
    return { outOfMemory, wasReady, reason: `the host of WASM modules is gone: ${reason}` };
  }

  return { send: (header, payload) => void process.channel.write(toFrame(header, payload)), gone: waitForEnd() };
}

function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve();
    else stream.once("close", resolve).once("end", resolve);
  });
}

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

/** A host is gone while it had a call. */
export class HostGone extends Error {
  readonly hostEnd: HostEnd;
  /** Whether the call may have changed something outside, so that it must not be made again. */
  readonly mayHaveActed: boolean;
  /** How many other calls the host had: one of them may have ended it. */
  readonly otherCalls: number;

  constructor(hostEnd: HostEnd, mayHaveActed: boolean, otherCalls: number) {
    super(hostEnd.reason);
    this.hostEnd = hostEnd;
    this.mayHaveActed = mayHaveActed;
    this.otherCalls = otherCalls;
  }
}

/** How many modules a host keeps. */
const maxModules = 32;
/** How long a host may take to end a call that must stop. */
const patienceMs = 2000;
/** A frame is an output, or a request of a module, and a little more. */
const headerBytes = 64 * 1024;

interface Pending extends HostCall {
  mayHaveActed: boolean;
  resolve(result: HostResult): void;
  reject(cause: Error): void;
}

/** Takes up a host that was started. */
export function connectHost(process: SandboxProcess, settings: HostSettings): HostConnection {
  const calls = new Map<number, Pending>();
  const modules = new Set<string>();
  let nextId = 1;
  let ended: HostEnd | undefined;
  const life = toLife(process);
  const peer = openPeer(process, settings.limits.outputBytes + headerBytes, (message, payload) => {
    const { id } = message;
    const call = calls.get(id);
    if (call === undefined) return;
    if (message.type === "begin" || message.type === "ask") call.mayHaveActed = true;
    if (message.type === "stderr") call.onStderr(payload);
    else if (message.type === "ask")
      void call.onAsk(payload).then((answer) => peer.send({ type: "answer", id }, answer));
    else if (message.type === "end" && calls.delete(id)) call.resolve({ end: message.end, output: payload });
  });
  const gone = peer.gone.then((hostEnd) => {
    ended = hostEnd;
    const others = calls.size - 1;
    for (const call of calls.values()) call.reject(new HostGone(hostEnd, call.mayHaveActed, others));
    calls.clear();
    return hostEnd;
  });
  peer.send({ type: "start", ...settings });

  return {
    hasModule: (digest) => modules.has(digest),
    sendModule(digest, bytes) {
      makeRoom(modules, peer);
      modules.add(digest);
      peer.send({ type: "module", digest }, bytes);
    },
    async call(call, signal) {
      if (ended !== undefined) throw new HostGone(ended, false, 1);
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<HostResult>();
      calls.set(id, { ...call, mayHaveActed: false, resolve, reject });
      const { digest, args, environment } = call;
      peer.send({ type: "call", id, digest, args, environment }, call.input);
      return untilStopped(promise, signal, { peer, id, kill: life.kill });
    },
    get isGone() {
      // One that is dying may take a call and not finish it.
      return life.isKilled || ended !== undefined;
    },
    gone,
    setHeld: life.setHeld,
    kill: life.kill,
  };
}

/** Whether a process goes on, and keeps this one alive. */
interface HostLife extends Pick<HostConnection, "setHeld" | "kill"> {
  readonly isKilled: boolean;
}

function toLife(process: SandboxProcess): HostLife {
  let isHeld = true;
  const life = {
    setHeld(held: boolean) {
      if (held !== isHeld) process.setHeld(held);
      isHeld = held;
    },
    isKilled: false,
    kill() {
      life.isKilled = true;
      process.kill();
    },
  };
  return life;
}

function makeRoom(modules: Set<string>, peer: HostPeer): void {
  const [oldest] = modules;
  if (modules.size < maxModules || oldest === undefined) return;
  modules.delete(oldest);
  peer.send({ type: "forget", digest: oldest });
}

interface Running {
  readonly peer: HostPeer;
  readonly id: number;
  kill(): void;
}

/** Waits for a call, and has it ended when it must stop. */
async function untilStopped<Value>(
  result: Promise<Value>,
  signal: AbortSignal,
  { peer, id, kill }: Running,
): Promise<Value> {
  let patience: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    peer.send({ type: "cancel", id });
    patience = setTimeout(kill, patienceMs);
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await result;
  } finally {
    clearTimeout(patience);
    signal.removeEventListener("abort", cancel);
  }
}
