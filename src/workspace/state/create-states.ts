import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

import { isKitbagError, KitbagError, type Problem } from "../../core/errors.ts";
import { isObject, copyJson, type JsonValue, maxJsonDepth, showValue } from "../../core/json.ts";
import type { KeyValueStore, WriteOptions } from "../../core/store.ts";
import type { StateExpectation, StateOptions, ToolState } from "../../core/tool-state.ts";
import { toOwnerKey } from "../users.ts";
import { createStateRoom, type StateLimits, type StateRoom } from "./state-room.ts";

/** Names one state. */
export interface StateName {
  /** Of what tool or skill it is. */
  readonly scope: string;
  /** The user who owns it. @default the local user */
  readonly owner: string | undefined;
}

/** The states of a workspace's tools and skills, one for each user. */
export interface States {
  /** The state of that name; each of its methods begins with `check`, which throws when the call that opened it is over. */
  open(name: StateName, check: () => void): ToolState;
}

const defaultLimits: StateLimits = { maxKeys: 10_000, maxBytes: 64 * 1024 * 1024 };

/** Where the state of an owner is kept: a view of the store that counts what is written, where there is a quota. */
export type FindKv = (owner: string | undefined) => KeyValueStore;

/**
 * Makes the states that are kept in `kv`. No scope may be another one followed by ":" and more, or begin with "user:": they would share
 * keys. Keys without a user are the local user's: they were written before there were users, or without one.
 */
export function createStates(
  kv: KeyValueStore,
  limits: StateLimits = defaultLimits,
  findKv: FindKv = () => kv,
): States {
  const rooms = new Map<string, StateRoom>();

  function roomOf(prefix: string): StateRoom {
    const room = rooms.get(prefix) ?? createStateRoom(kv, prefix, limits);
    rooms.set(prefix, room);
    return room;
  }

  return {
    open({ scope, owner }, check) {
      const prefix = owner === undefined ? `state:${scope}:` : `state:user:${toOwnerKey(owner)}:${scope}:`;
      return createState({ kv: findKv(owner), scope, prefix, room: roomOf(prefix), limits, check });
    },
  };
}

function createState(place: StatePlace): ToolState {
  const { kv, prefix } = place;
  const check = (key: string): void => {
    place.check();
    checkStateKey(key);
  };
  const state: ToolState = {
    async get(key) {
      return (await state.read(key))?.value;
    },
    async read(key) {
      check(key);
      return kv.get(prefix + key);
    },
    async set(key, value, options) {
      check(key);
      return writeState(place, toWrite(key, options), value);
    },
    async delete(key) {
      check(key);
      return kv.delete(prefix + key);
    },
    async list(start = "", { after = "", limit = 100 } = {}) {
      place.check();
      checkStateKeyPart("prefix", start);
      checkStateKeyPart("after", after);
      checkListLimit(limit);
      const entries = await kv.list({ prefix: prefix + start, after: prefix + after, limit });
      return entries.map(([key, { value, version }]) => ({ key: key.slice(prefix.length), value, version }));
    },
    async compareAndSet(key, expected, value, options) {
      check(key);
      checkExpectation(key, expected);
      const write = toWrite(key, options);
      if (!("version" in expected)) return writeIfEqual(place, write, expected.value, value);
      const ifVersion = expected.version;
      return succeeds(writeState(place, { key, options: { ...write.options, ifVersion } }, value));
    },
    async update(key, change, options) {
      check(key);
      return updateState(place, toWrite(key, options), change);
    },
  };
  return Object.freeze(state);
}

/** Takes the options that a state has, and no others that the store may have. */
function toWrite(key: string, options: StateOptions | undefined): StateWrite {
  const { expiresInMs } = options ?? {};
  return { key, options: expiresInMs === undefined ? {} : { expiresInMs } };
}

/** Where one state is, and whose it is. */
interface StatePlace {
  readonly kv: KeyValueStore;
  readonly scope: string;
  /** Of its keys in `kv`. */
  readonly prefix: string;
  readonly room: StateRoom;
  readonly limits: StateLimits;
  /** Throws when the call that opened it is over. */
  readonly check: () => void;
}

/** One write: where, and when it vanishes. */
interface StateWrite {
  readonly key: string;
  readonly options: WriteOptions;
}

/** How often another writer may be faster. */
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
async function writeState(place: StatePlace, { key, options }: StateWrite, value: unknown): Promise<number> {
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
type StateChange = (found: JsonValue | undefined) => JsonValue | undefined | Promise<JsonValue | undefined>;

type Decision = JsonValue | undefined | typeof leave;

/** Writes if what is there equals `expected`; answers whether it did. */
async function writeIfEqual(
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
async function updateState(place: StatePlace, write: StateWrite, change: StateChange): Promise<JsonValue | undefined> {
  return (await rewrite(place, write, change)) as JsonValue | undefined;
}

/** Decides anew as long as another writer is faster. */
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
  const expected = "no other writer";
  throw new KitbagError("store-conflict", { where: key, expected, found: `another one, ${maxAttempts} times` });
}

/** Tells whether a write happened; if not, another writer was faster. */
async function succeeds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}

const maxKeyBytes = 512;
const maxValueBytes = 1024 * 1024;

/** The longest piece of a wrong key that an error carries. */
const longestShown = 200;

/** The most entries that can be listed at once. */
const maxListed = 1000;

/**
 * Checks a key.
 *
 * @throws {KitbagError} `state-invalid` if the contract of `ToolState` does not allow it.
 */
function checkStateKey(key: string): void {
  checkStateKeyPart("key", key);
  if (key === "") refuse(key, { path: "key", expected: "a text", found: "an empty one" });
}

/**
 * Checks what keys are compared with: like a key, but it may be empty.
 *
 * @throws {KitbagError} `state-invalid` if no key can begin with it.
 */
function checkStateKeyPart(path: string, part: string): void {
  if (typeof part !== "string") return refuse("", { path, expected: "a text", found: showValue(part) });
  if (Buffer.byteLength(part) > maxKeyBytes) {
    refuse(part, { path, expected: `at most ${maxKeyBytes} bytes`, found: `${Buffer.byteLength(part)}` });
  }
  if (part.includes("\0")) refuse(part, { path, expected: "a text without NUL", found: "one with it" });
  if (!part.isWellFormed()) refuse(part, { path, expected: "whole characters", found: "an unpaired surrogate" });
}

/** A value as it is kept, and how long it is as JSON. */
interface StateValue {
  readonly value: JsonValue;
  readonly bytes: number;
}

/**
 * Copies a value on its way in.
 *
 * @throws {KitbagError} `state-invalid` if the contract of `ToolState` does not allow it.
 */
function copyStateValue(key: string, value: unknown): StateValue {
  const copy = copyJson(value, { maxBytes: maxValueBytes, maxDepth: maxJsonDepth });
  if (copy.ok) return copy;
  if (copy.reason === "too-large") refuse(key, { path: "value", expected: "at most 1 MiB", found: "more" });
  const { path, expected, found } = copy.problem;
  return refuse(key, { path: path === "" ? "value" : `value.${path}`, expected, found });
}

/**
 * Checks what a write waits for.
 *
 * @throws {KitbagError} `state-invalid` if it is neither a version nor a value.
 */
function checkExpectation(key: string, expected: StateExpectation): void {
  if (isObject(expected) && ("version" in expected || "value" in expected)) return;
  const found = showValue(expected);
  refuse(key, { path: "expected", expected: "{ version } or { value }", found });
}

/**
 * Checks how many entries are asked for.
 *
 * @throws {KitbagError} `option-invalid` if it is not a whole number that can be listed at once.
 */
function checkListLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxListed) return;
  const expected = `a whole number from 1 to ${maxListed}`;
  throw new KitbagError("option-invalid", { option: "limit", found: showValue(limit), expected });
}

function refuse(key: string, problem: Problem): never {
  throw new KitbagError("state-invalid", { key: key.slice(0, longestShown), problems: [problem] });
}
