import type { SandboxProcess } from "../../sandbox/sandbox.ts";
import { connectHost, HostGone, type HostCall, type HostConnection, type HostResult } from "./host-connection.ts";
import type { HostSettings } from "./inside/wire/messages.ts";
import { createTurns } from "./turns.ts";

/** How a host is kept. */
export interface WasmHostOptions {
  readonly settings: HostSettings;
  readonly start: () => Promise<SandboxProcess>;
  /** How long it is kept when nothing is called. */
  readonly idleMs: number;
}

/** The host of one set of grants: started when it is needed, again when it died, and ended when it is not used. */
export interface WasmHost {
  /** `loadModule` is asked for the bytes if the host does not have them. */
  call(call: HostCall, loadModule: () => Promise<Uint8Array>, signal: AbortSignal): Promise<HostResult>;
  /** The number of calls that run or wait. */
  readonly busy: number;
  close(): Promise<void>;
}

/** Calls that are on their way to a worker, beside those that run: enough that no worker waits for us. */
const callsAhead = 2;
const maxAttempts = 3;

/** Makes a host that is not started yet. */
export function createWasmHost({ settings, start, idleMs }: WasmHostOptions): WasmHost {
  const turns = createTurns(settings.workers * callsAhead);
  let connecting: Promise<HostConnection> | undefined;
  let connection: HostConnection | undefined;
  let idle: NodeJS.Timeout | undefined;
  let busy = 0;

  async function connect(): Promise<HostConnection> {
    const made = connectHost(await start(), settings);
    connection = made;
    return made;
  }

  function getConnection(): Promise<HostConnection> {
    if (connection?.isGone === true) connecting = connection = undefined;
    connecting ??= connect().catch((cause: unknown) => {
      connecting = undefined;
      throw cause;
    });
    return connecting;
  }

  function rest(): void {
    connection?.setHeld(false);
    idle = setTimeout(() => connection?.kill(), idleMs);
    idle.unref();
  }

  async function callNow(call: HostCall, load: () => Promise<Uint8Array>, signal: AbortSignal): Promise<HostResult> {
    const host = connection?.isGone === false ? connection : await getConnection();
    if (busy > 0) host.setHeld(true);
    if (!host.hasModule(call.digest)) {
      const bytes = await load();
      // Another call may have been faster.
      if (!host.hasModule(call.digest)) host.sendModule(call.digest, bytes);
    }
    signal.throwIfAborted();
    return host.call(call, signal);
  }

  /** Tries again with another host if the one that had the call is gone, and had not begun it. */
  async function callAgain(call: HostCall, load: () => Promise<Uint8Array>, signal: AbortSignal): Promise<HostResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await callNow(call, load, signal);
      } catch (cause) {
        if (!(cause instanceof HostGone) || cause.begun || !cause.hostEnd.wasReady || attempt === maxAttempts)
          throw cause;
      }
    }
  }

  return {
    async call(call, load, signal) {
      clearTimeout(idle);
      busy += 1;
      try {
        const release = turns.tryTake() ?? (await turns.take(signal));
        try {
          return await callAgain(call, load, signal);
        } finally {
          release();
        }
      } finally {
        busy -= 1;
        if (busy === 0) rest();
      }
    },
    get busy() {
      return busy;
    },
    async close() {
      clearTimeout(idle);
      const host = await connecting?.catch(() => undefined);
      host?.kill();
      await host?.gone;
    },
  };
}
