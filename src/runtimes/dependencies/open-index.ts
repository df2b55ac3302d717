import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openEgress } from "../../sandbox/egress/open-egress.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** A way to the package index and to nowhere else. */
export interface IndexRoute {
  /** The socket that leads there; missing where programs are not kept from the network. */
  readonly socket?: string;
  /** Hosts that somebody wanted to reach and must not. */
  refused(): readonly string[];
  close(): Promise<void>;
}

/** Where a package index is, and how much may be fetched from it. */
export interface IndexReach {
  /** Each with its port. */
  readonly hosts: readonly string[];
  readonly maxBytes: number;
}

/** Opens the way to the hosts of a package index. */
export async function openIndex(sandbox: Sandbox, { hosts, maxBytes }: IndexReach): Promise<IndexRoute> {
  if (sandbox.name === "off") return { refused: () => [], close: async () => {} };
  // The path of a socket must be short, and the home directory may be deep.
  const directory = await mkdtemp(join(tmpdir(), "kitbag-index-"));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const egress = await openEgress({ rules: hosts, directory, limits: { bytes: maxBytes } });
    return {
      socket: egress.socket,
      refused() {
        const wanted = egress.connections
          .filter(({ allowed, host }) => !allowed && host !== "")
          .map(({ host, port }) => `${host}:${port}`);
        return [...new Set(wanted)].filter((host) => !hosts.includes(host));
      },
      async close() {
        await egress.close();
        await remove();
      },
    };
  } catch (cause) {
    await remove();
    throw cause;
  }
}
