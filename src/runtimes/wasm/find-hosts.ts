import { statSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, relative } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { WasmCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { findGrants, type GrantPlaces } from "../../sandbox/grants.ts";
import { identifyPlaces } from "../../sandbox/hold-places.ts";
import { defaultLimits, type Mount, type Profile, type Sandbox } from "../../sandbox/sandbox.ts";
import type { HostSettings, Root } from "./inside/wire/messages.ts";
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

/** Where paths of modules lead. */
interface RootPlaces {
  readonly sandbox: Sandbox;
  /** What a path without a slash at its start is relative to. */
  readonly directory: string;
}

/**
 * The directories that a module sees for what was granted. A single file is seen in its directory, alone. What is below the
 * working directory is there also under its relative name.
 */
export function toRoots(mounts: readonly Mount[], { sandbox, directory }: RootPlaces): Root[] {
  const roots = new Map<string, Root>();
  for (const mount of mounts.filter(({ granted }) => granted === true)) {
    const isDirectory = statSync(mount.source).isDirectory();
    // Where nothing is mounted, the file is where it is.
    const place = sandbox.keepsPaths === true ? mount.source : mount.target;
    const name = isDirectory ? mount.target : dirname(mount.target);
    const known = roots.get(name) ?? { name, path: isDirectory ? place : dirname(place), only: {} };
    const access = mount.write === true ? "write" : "read";
    roots.set(
      name,
      isDirectory ? { ...known, access } : { ...known, only: { ...known.only, [basename(place)]: access } },
    );
  }
  return [...roots.values()].flatMap((root) => {
    const short = relative(directory, root.name);
    return short.startsWith("..") || isAbsolute(short) ? [root] : [root, { ...root, name: short || "." }];
  });
}

const ownFolder = join(import.meta.dirname, "inside");
const ownTarget = "/opt/kitbag/wasm";
const pageBytes = 64 * 1024;

/** What Node takes for itself: 55 MB when idle, 150 MB after thousands of calls, more while a large module is compiled. */
const baseBytes = 512 * 1024 * 1024;

/**
 * What the host of modules may use. Its memory is what all workers may have at once, twice, because the memory of a call is only
 * given back some time after it ended. Modules are held to their own limit by the host; this one is for the case that it fails.
 * The CPU time is that of a month: the host lives as long as it is used, and each call has a limit of its own.
 */
function toHostProfile(settings: HostSettings, mounts: readonly Mount[]): Profile {
  const { workers, limits } = settings;
  return {
    mounts: [{ source: process.execPath, target: "/opt/node" }, { source: ownFolder, target: ownTarget }, ...mounts],
    environment: {},
    programs: [],
    limits: {
      ...defaultLimits,
      memoryBytes: baseBytes + 2 * workers * limits.memoryBytes,
      cpuSeconds: 30 * 24 * 60 * 60,
      openFiles: 256 + workers * 256,
      fileBytes: limits.fileBytes,
    },
  };
}

/** How the host is started, inside. */
function toHostCommand({ limits }: HostSettings): readonly string[] {
  return [
    "/opt/node",
    // The same limit that is written into each module, for all of them.
    `--wasm-max-mem-pages=${Math.floor(limits.memoryBytes / pageBytes)}`,
    "--wasm-max-table-size=1000000",
    "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    "--disable-warning=ExperimentalWarning",
    join(ownTarget, `host${extname(import.meta.filename)}`),
  ];
}
