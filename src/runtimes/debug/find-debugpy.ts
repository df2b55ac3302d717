import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { Mount } from "../../sandbox/sandbox.ts";

/** Where the system keeps packages for its own Python. */
const systemPackages = "/usr/lib/python3/dist-packages";
/** Where debugpy is inside, for a Python that has none. */
export const debugpyTarget = "/opt/kitbag/debugpy";

const parts = /^(?:debugpy|_?pydev\w*)(?:\.py)?$/u;

/** What must be inside so that any Python finds the debugpy of the system. Nothing, if there is none. */
export function findDebugpy(directory = systemPackages): readonly Mount[] {
  if (!existsSync(join(directory, "debugpy"))) return [];
  return readdirSync(directory)
    .filter((name) => parts.test(name))
    .map((name) => ({ source: join(directory, name), target: `${debugpyTarget}/${name}` }));
}
