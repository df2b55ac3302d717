import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, WriteOptions } from "../../core/store.ts";
import { copyStateValue } from "./check-state.ts";
import type { StateLimits, StateRoom } from "./state-room.ts";

/** Where one state is, and whose it is. */
export interface StatePlace {
  readonly kv: KeyValueStore;
  readonly scope: string;
  /** Of its keys in `kv`. */
  readonly prefix: string;
  readonly room: StateRoom;
  readonly limits: StateLimits;
  /** Throws when there is nobody any more to use it. */
  readonly check: () => void;
}

/** One write: where, and when it vanishes. */
export interface StateWrite {
  readonly key: string;
  readonly options: WriteOptions;
}

/** How often somebody else may be faster. */
const maxAttempts = 200;
/** How often to try again at once. */
const quickAttempts = 20;
/** The longest wait before another try, in milliseconds. */
const longestWait = 10;

/**
 * Keeps a value, and answers with its version.
 *
 * @throws {KitbagError} `state-invalid`, `state-full`; `store-conflict` if `ifVersion` is not what is there.
 */
export async function writeState(place: StatePlace, { key, options }: StateWrite, value: unknown): Promise<number> {
  const copy = copyStateValue(key, value);
  const write = (): Promise<number> => place.kv.set(place.prefix + key, copy.value, options);
  const written = await place.room.writeIfFits(key, copy.bytes, write);
  if (written === undefined) {
    const owner = place.scope.slice(place.scope.indexOf(":") + 1);
    throw new KitbagError("state-full", { owner, limit: place.limits.maxKeys, limitBytes: place.limits.maxBytes });
  }
  return written.value;
}

/** Said instead of a value: nothing is to be written. */
const leave: unique symbol = Symbol("leave");

/** What is to be there, for what is there; `undefined` is nothing at all. */
export type StateChange = (found: JsonValue | undefined) => JsonValue | undefined | Promise<JsonValue | undefined>;

type Decision = JsonValue | undefined | typeof leave;

/** Writes if what is there equals `expected`; answers whether it did. */
export async function writeIfEqual(
  place: StatePlace,
  write: StateWrite,
  expected: JsonValue | undefined,
  value: JsonValue,
): Promise<boolean> {
  const sought = expected === undefined ? undefined : copyStateValue(write.key, expected).value;
  const { value: copy } = copyStateValue(write.key, value);
  return (await rewrite(place, write, (found) => (isDeepStrictEqual(found, sought) ? copy : leave))) !== leave;
}

/** Writes what `change` makes of what is there, and answers with it. */
export async function updateState(
  place: StatePlace,
  write: StateWrite,
  change: StateChange,
): Promise<JsonValue | undefined> {
  return (await rewrite(place, write, change)) as JsonValue | undefined;
}

/** Decides anew as long as somebody else is faster. */
async function rewrite(
  place: StatePlace,
  { key, options }: StateWrite,
  decide: (found: JsonValue | undefined) => Decision | Promise<Decision>,
): Promise<Decision> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    place.check();
    const found = await place.kv.get(place.prefix + key);
    const decision = await decide(found?.value);
    if (decision === leave) return leave;
    const next = decision === undefined ? undefined : copyStateValue(key, decision).value;
    const ifVersion = found?.version ?? 0;
    place.check();
    if (next === undefined) {
      if (found === undefined || (await succeeds(place.kv.delete(place.prefix + key, { ifVersion })))) return undefined;
    } else if (await succeeds(writeState(place, { key, options: { ...options, ifVersion } }, next))) return next;
    if (attempt > quickAttempts) await sleep(Math.random() * longestWait);
  }
  const expected = "nobody else to write";
  throw new KitbagError("store-conflict", { where: key, expected, found: `somebody, ${maxAttempts} times` });
}

/** Tells whether a write happened; if not, somebody else was faster. */
export async function succeeds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}
