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

/** The limits with what nobody said. */
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
