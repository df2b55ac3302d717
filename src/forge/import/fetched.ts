import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Reach } from "../../sandbox/download/check-address.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import type { ImportLimits } from "./import-limits.ts";
import type { ImportSource } from "./import-source.ts";

/** How sources are fetched. */
export interface FetchOptions extends Reach {
  /** Where npm packages come from. @default "https://registry.npmjs.org" */
  readonly registry?: string;
  readonly limits?: ImportLimits;
  readonly signal?: AbortSignal;
}

/** A source that was fetched: plain files in a folder. Whoever has it disposes of it. */
export interface Fetched {
  readonly source: ImportSource;
  /** Absolute, with links resolved. */
  readonly directory: string;
  /** Which state of the source it is. */
  readonly resolved: Pick<LockedSource, "commit" | "version" | "integrity">;
  /** What was left out, in words. */
  readonly notes: readonly string[];
  dispose(): void;
}

/** A folder that is gone when it is disposed of. */
export interface StageFolder {
  readonly directory: string;
  dispose(): void;
}

/** Makes a folder that only this user can look into. */
export function createStage(): StageFolder {
  const directory = realpathSync.native(mkdtempSync(join(tmpdir(), "kitbag-import-")));
  return { directory, dispose: () => rmSync(directory, { recursive: true, force: true }) };
}
