import type { KeyValueStore } from "../../core/store.ts";
import type { StateOptions, ToolState } from "../../core/tool-state.ts";
import { checkExpectation, checkListLimit, checkStateKey, checkStateKeyPart } from "./check-state.ts";
import { createStateRoom, type StateLimits, type StateRoom } from "./state-room.ts";
import { toOwnerKey } from "../users.ts";
import { succeeds, updateState, writeIfEqual, writeState, type StatePlace, type StateWrite } from "./write-state.ts";

/** Names one state. */
export interface StateName {
  /** Of what tool or skill it is. */
  readonly scope: string;
  /** The user who owns it. @default the local user */
  readonly owner: string | undefined;
}

/** The states of a workspace's tools and skills, one for each user. */
export interface States {
  /** The state of that name; each of its methods begins with `check`, which throws when there is nobody any more to use it. */
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
