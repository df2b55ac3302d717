import { extname, join } from "node:path";

import { defaultLimits, type Mount, type Profile } from "../../sandbox/sandbox.ts";
import type { HostSettings } from "./inside/wire/messages.ts";

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
export function toHostProfile(settings: HostSettings, mounts: readonly Mount[]): Profile {
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
export function toHostCommand({ limits }: HostSettings): readonly string[] {
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
