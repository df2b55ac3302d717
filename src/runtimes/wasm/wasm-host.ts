import { createSemaphore } from "../../core/async.ts";
import type { SandboxProcess } from "../../sandbox/sandbox.ts";
import { connectHost, type HostCall, type HostConnection, HostGone, type HostResult } from "./host-connection.ts";
import type { HostSettings } from "./inside/wire/messages.ts";

/** How a host is kept. */
export interface WasmHostOptions extends HostStart {
  /** How long it is kept when nothing is called. */
  readonly idleMs: number;
}

/** A call, and where its module comes from. */
export interface WasmCall extends HostCall {
  /** Asked for the bytes if the host does not have them. */
  loadModule(): Promise<Uint8Array>;
}

/** The host of one set of grants: started when it is needed, again when it died, and ended when it is not used. */
export interface WasmHost {
  call(call: WasmCall, signal: AbortSignal): Promise<HostResult>;
  /** Whether calls run or wait. */
  readonly isBusy: boolean;
  /** Ends it for good, with the calls that it has. */
  close(): Promise<void>;
}

/** Calls that are on their way to a worker, beside those that run: enough that no worker waits for us. */
const callsAhead = 2;
const maxAttempts = 3;

/** Makes a host that is not started yet. */
export function createWasmHost({ settings, start, idleMs }: WasmHostOptions): WasmHost {
  const permits = createSemaphore(settings.workers * callsAhead);
  const link = createHostLink({ settings, start });
  const rest = createRest(link, idleMs, () => busy === 0 && !isClosed);
  let busy = 0;
  let isClosed = false;

  /** Tries again with another host if the one that had the call is gone, and the call cannot have done anything yet. */
  async function callAgain(call: WasmCall, signal: AbortSignal): Promise<HostResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await callOnce(link, call, signal);
      } catch (cause) {
        if (isClosed || attempt === maxAttempts || !canTryAgain(cause)) throw cause;
        if (cause.hostEnd.outOfMemory) return callAlone(call, signal);
      }
    }
  }

  /** One of several calls has used too much memory: alone it shows whether it was this one. */
  async function callAlone(call: WasmCall, signal: AbortSignal): Promise<HostResult> {
    const own = createHostLink({ settings, start });
    try {
      return await callOnce(own, call, signal);
    } finally {
      await own.close();
    }
  }

  return {
    async call(call, signal) {
      rest.end();
      busy += 1;
      let release: (() => void) | undefined;
      try {
        release = permits.tryTake() ?? (await permits.take(signal));
        return await callAgain(call, signal);
      } finally {
        release?.();
        busy -= 1;
        if (busy === 0) rest.begin();
      }
    },
    get isBusy() {
      return busy > 0;
    },
    async close() {
      isClosed = true;
      rest.end();
      await link.close();
    },
  };
}

/** Makes what lets go of a host while nothing is called, and ends it when that has lasted. */
function createRest(link: HostLink, idleMs: number, isFree: () => boolean): { begin(): void; end(): void } {
  let soon: NodeJS.Immediate | undefined;
  let idle: NodeJS.Timeout | undefined;

  function rest(): void {
    soon = undefined;
    if (!isFree()) return;
    link.current?.setHeld(false);
    idle = setTimeout(() => link.current?.kill(), idleMs).unref();
  }

  return {
    begin() {
      // When no call has followed at once: to let go of a process and hold it again costs more than a quick call.
      soon ??= setImmediate(rest);
    },
    end() {
      clearTimeout(idle);
    },
  };
}

async function callOnce(link: HostLink, call: WasmCall, signal: AbortSignal): Promise<HostResult> {
  const host = link.current ?? (await link.open());
  host.setHeld(true);
  if (!host.hasModule(call.digest)) await sendModule(host, call);
  signal.throwIfAborted();
  return host.call(call, signal);
}

/** One that could not start will not start, and a call that was alone with too little memory would have too little again. */
function canTryAgain(cause: unknown): cause is HostGone {
  if (!(cause instanceof HostGone) || cause.mayHaveActed) return false;
  return cause.hostEnd.wasReady && (!cause.hostEnd.outOfMemory || cause.otherCalls > 0);
}

async function sendModule(host: HostConnection, { digest, loadModule }: WasmCall): Promise<void> {
  const bytes = await loadModule();
  // Another call may have been faster.
  if (!host.hasModule(digest)) host.sendModule(digest, bytes);
}

/** How a host is started. */
interface HostStart {
  readonly settings: HostSettings;
  readonly start: () => Promise<SandboxProcess>;
}

/** The way to a host that is there when it is needed. */
interface HostLink {
  /** The host that runs now. */
  readonly current: HostConnection | undefined;
  /** The host that runs now, or a new one. */
  open(): Promise<HostConnection>;
  close(): Promise<void>;
}

/** Makes the way to a host that is not started yet. */
function createHostLink({ settings, start }: HostStart): HostLink {
  let opening: Promise<HostConnection> | undefined;
  let opened: HostConnection | undefined;

  const getCurrent = (): HostConnection | undefined => (opened?.isGone === false ? opened : undefined);

  async function connect(): Promise<HostConnection> {
    try {
      opened = connectHost(await start(), settings);
      return opened;
    } catch (cause) {
      opening = undefined;
      throw cause;
    }
  }

  return {
    get current() {
      return getCurrent();
    },
    open() {
      if (opened?.isGone === true) opening = opened = undefined;
      opening ??= connect();
      return opening;
    },
    async close() {
      const host = await opening?.catch(() => undefined);
      // This process must not end before it.
      host?.setHeld(true);
      host?.kill();
      await host?.gone;
    },
  };
}
