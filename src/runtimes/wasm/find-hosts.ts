import { KitbagError } from "../../core/errors.ts";
import type { WasmCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { findGrants, type GrantPlaces } from "../../sandbox/grants.ts";
import { identifyPlaces } from "../../sandbox/hold-places.ts";
import type { Mount, Sandbox } from "../../sandbox/sandbox.ts";
import { toHostCommand, toHostProfile } from "./host-profile.ts";
import type { HostSettings } from "./inside/wire/messages.ts";
import { toRoots } from "./to-roots.ts";
import { createWasmHost, type WasmHost } from "./wasm-host.ts";

/** How hosts are made. */
export interface HostOptions extends Pick<HostSettings, "workers" | "limits"> {
  readonly sandbox: Sandbox;
  readonly places: GrantPlaces;
  readonly idleMs: number;
}

/** The hosts of all tools. */
export interface Hosts {
  /** The host of a tool for one user; calls that no user is named for share one. */
  find(tool: Tool, user?: string): WasmHost;
  close(): Promise<void>;
}

/** How many hosts there are at once, unless all of them are busy. */
const maxHosts = 8;

/**
 * Makes a host for each skill, set of grants and user: a module that breaks out of V8 finds only what the skill was given anyway, and
 * calls of one user neither wait for those of another nor end with them.
 */
export function createHosts({ sandbox, places, idleMs, workers, limits }: HostOptions): Hosts {
  const hosts = new Map<string, WasmHost>();

  function make(mounts: readonly Mount[]): WasmHost {
    const roots = toRoots(mounts, { sandbox, directory: places.directory });
    const settings = { workers, limits, roots };
    const start: () => ReturnType<Sandbox["start"]> = () =>
      sandbox.start(toHostProfile(settings, mounts), toHostCommand(settings));
    return createWasmHost({ settings, start, idleMs });
  }

  return {
    find(tool, user) {
      const mounts = findMounts(tool, places);
      const key = JSON.stringify([(tool.code as WasmCode).directory, mounts, identifyPlaces(mounts), user]);
      let host = hosts.get(key);
      if (host === undefined) {
        closeIdle(hosts);
        host = make(mounts);
        hosts.set(key, host);
      }
      return host;
    },
    async close() {
      await Promise.all([...hosts.values()].map((host) => host.close()));
      hosts.clear();
    },
  };
}

function findMounts(tool: Tool, places: GrantPlaces): readonly Mount[] {
  const { read = [], write = [], run = [], sockets } = tool.permissions;
  const refuse = (permission: string, what: string): never => {
    const reason = `a WASM module cannot ${what}; make it a script, or take the permission out`;
    throw new KitbagError("permission-refused", { tool: tool.name, permission, reason });
  };
  if (run[0] !== undefined) refuse(`run ${run[0]}`, "start programs");
  if (sockets !== undefined) refuse(`sockets ${sockets}`, "make sockets");
  // Most tools have no grants, and then the disk need not be asked.
  return read.length + write.length === 0 ? [] : findGrants(tool.name, tool.permissions, places).mounts;
}

function closeIdle(hosts: Map<string, WasmHost>): void {
  for (const [key, host] of hosts) {
    if (hosts.size < maxHosts) return;
    if (host.isBusy) continue;
    hosts.delete(key);
    void host.close();
  }
}
