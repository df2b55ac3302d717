import type { SandboxProcess } from "../../sandbox/sandbox.ts";
import { connectHost, type HostConnection } from "./host-connection.ts";
import type { HostSettings } from "./inside/wire/messages.ts";

/** How a host is started. */
export interface HostStart {
  readonly settings: HostSettings;
  readonly start: () => Promise<SandboxProcess>;
}

/** The way to a host that is there when it is needed. */
export interface HostLink {
  /** The host that runs now. */
  readonly current: HostConnection | undefined;
  /** The host that runs now, or a new one. */
  open(): Promise<HostConnection>;
  close(): Promise<void>;
}

/** Makes the way to a host that is not started yet. */
export function createHostLink({ settings, start }: HostStart): HostLink {
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
      // Whoever waits for its end must not end before.
      host?.setHeld(true);
      host?.kill();
      await host?.gone;
    },
  };
}
