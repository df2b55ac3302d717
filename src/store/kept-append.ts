import type { KeyValueStore, LogStore } from "../core/store.ts";

/** A change of one value that is committed together with an append. */
export interface KeyChange {
  readonly key: string;
  /** The new value, as JSON; without one the key is deleted. */
  readonly text?: string;
  /** The version that must be there. If it is not, nothing is set and nothing appended; but what is not to be deleted just stays. */
  readonly ifVersion: number;
  readonly expiresInMs?: number;
}

/** Where an append ended, and the version of the value that is there then; 0 for none. */
export interface KeptPlace {
  readonly position: number;
  readonly version: number;
}

/** What a log can do beyond `LogStore`. */
export interface KeptAppends {
  /** The values whose changes can go with an append. */
  readonly kv: KeyValueStore;
  /**
   * Appends like `append`, and changes a value in the same commit: both are on disk, or neither is.
   *
   * **Contract**: `texts` are JSON that the store may hold, and `stream` and `key` are keys; none of it is checked again.
   *
   * @throws {KitbagError} what `append` throws, and `store-conflict` if another version is there than the one of the value to set.
   */
  append(
    stream: string,
    texts: readonly string[],
    expectedPosition: number,
    change: KeyChange | undefined,
  ): Promise<KeptPlace>;
}

/**
 * What logs can do that commit everything of one moment together. Not a part of `LogStore`: whatever is put around a log sees each
 * append.
 */
export const keptAppends = new WeakMap<LogStore, KeptAppends>();
