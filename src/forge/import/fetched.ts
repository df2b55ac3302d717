import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Reach } from "../../sandbox/download/guarded-fetch.ts";
import type { LockedSource } from "../../skills/trust/lock-format.ts";
import { showSource, type ImportSource } from "./import-source.ts";

/** How sources are fetched. */
export interface FetchOptions extends Reach {
  /** Where npm packages come from. @default "https://registry.npmjs.org" */
  readonly registry?: string;
  readonly limits?: ImportLimits;
  readonly signal?: AbortSignal;
}

/** A source that was fetched: plain files in a folder. The caller disposes of it. */
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

/** How much may be fetched. */
export interface ImportLimits {
  /** What is downloaded. @default 104857600 */
  readonly maxDownloadBytes?: number;
  /** All files together, unpacked. @default 52428800 */
  readonly maxBytes?: number;
  /** @default 10485760 */
  readonly maxFileBytes?: number;
  /** @default 5000 */
  readonly maxFiles?: number;
  /** Folders within folders. @default 12 */
  readonly maxDepth?: number;
  /** How many times larger than the archive its files may be, once they are more than a megabyte. @default 200 */
  readonly maxRatio?: number;
  /** For fetching all of it. @default 120000 */
  readonly limitMs?: number;
}

const mebibyte = 1024 * 1024;

/** The limits, with defaults filled in. */
export function toLimits(limits: ImportLimits = {}): Required<ImportLimits> {
  const defaults: Required<ImportLimits> = {
    maxDownloadBytes: 100 * mebibyte,
    maxBytes: 50 * mebibyte,
    maxFileBytes: 10 * mebibyte,
    maxFiles: 5000,
    maxDepth: 12,
    maxRatio: 200,
    limitMs: 120_000,
  };
  return { ...defaults, ...limits };
}

/** The failure of an import, for a source or for its address as it is shown. */
export function importFailed(source: ImportSource | string, reason: string, cause?: unknown): KitbagError {
  const shown = typeof source === "string" ? source : showSource(source);
  return new KitbagError("import-failed", { source: shown, reason }, { cause });
}
