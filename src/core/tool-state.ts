import type { JsonValue } from "./json.ts";
import type { VersionedValue } from "./store.ts";

/** What may be said with a write to {@link ToolState}. */
export interface StateOptions {
  /** The value vanishes after this time, at least 1. @default never, also if the value before had a time */
  readonly expiresInMs?: number;
}

/** What part of the keys to list. */
export interface StateListOptions {
  /** Only keys after this one, which need not exist. */
  readonly after?: string;
  /** At most 1,000. @default 100 */
  readonly limit?: number;
}

/** One thing that is kept. */
export interface StateEntry extends VersionedValue {
  readonly key: string;
}

/** What must be there for a write to happen: this version, 0 for nothing at all, or this value, `undefined` for nothing at all. */
export type StateExpectation = { readonly version: number } | { readonly value: JsonValue | undefined };

/**
 * What a tool keeps from one call to the next, by key, in the workspace's store; without a store, as long as the workspace lives.
 *
 * It belongs to the tool's address and to the user of the outermost call (`CallOptions.user`), not to a call or a version: all calls of a
 * user share it, no other user sees it, and a new version of the tool finds what the old one kept. Calls without a user share the
 * local user's.
 *
 * **Contract** of every method: never throws, but rejects; a rejected write has changed nothing. Values are copied on the way in
 * and out. A key is any text of 1 to 512 bytes as UTF-8, without NUL and unpaired surrogates. A value is any JSON of up to 1 MiB
 * and 64 levels. One state holds 10,000 keys and 64 MiB, counted by each process for itself.
 *
 * @throws {KitbagError} `state-invalid` for any other key or value, `state-full` if there is no room, `option-invalid` for a wrong
 * option; what stopped the call, or `call-cancelled`, once the call is over.
 */
export interface ToolState {
  get(key: string): Promise<JsonValue | undefined>;
  /** The value with its version, for {@link ToolState.compareAndSet}. */
  read(key: string): Promise<VersionedValue | undefined>;
  /** Answers with the new version. */
  set(key: string, value: JsonValue, options?: StateOptions): Promise<number>;
  /** Answers whether there was something to delete. */
  delete(key: string): Promise<boolean>;
  /** What begins with `prefix`, in the order of the keys' code points. */
  list(prefix?: string, options?: StateListOptions): Promise<readonly StateEntry[]>;
  /** Writes only if what is expected is there, in one step; answers whether it did. */
  compareAndSet(key: string, expected: StateExpectation, value: JsonValue, options?: StateOptions): Promise<boolean>;
  /**
   * Writes what `change` makes of the value that is there, in one step: when another call writes in between, `change` is called
   * again, so it should do nothing else. `undefined` deletes. Answers with what is there now.
   *
   * @throws {KitbagError} `store-conflict` if other calls wrote first 200 times.
   */
  update(
    key: string,
    change: (value: JsonValue | undefined) => JsonValue | undefined | Promise<JsonValue | undefined>,
    options?: StateOptions,
  ): Promise<JsonValue | undefined>;
}
