import type { JsonValue } from "../core/json.ts";
import type { LogStore } from "../core/store.ts";

/**
 * Makes what follows the last entry of a stream, which has this position.
 *
 * **Contract**: it is called while nobody else can append, and again if that came to nothing, so it changes nothing that matters
 * then. What it makes are texts of JSON. If it throws a `KitbagError`, nothing is appended.
 */
export type MakeNext = (position: number, readLast: () => JsonValue | undefined) => readonly string[];

/** Appends what is made at the moment in which it is written, and answers like `append`. */
export type ChainedAppend = (stream: string, makeNext: MakeNext) => Promise<number>;

/**
 * How to append to the logs that can do it this way. Entries that hold something of the one before them need not wait there until
 * those before them are written, but go together with everything else that is written at that moment. Not a part of `LogStore`:
 * whatever is put around a log sees each append.
 */
export const chainedAppends = new WeakMap<LogStore, ChainedAppend>();
