import { randomFillSync } from "node:crypto";

import type { CallFacts } from "../wire/messages.ts";
import type { Descriptors } from "./descriptors.ts";
import { CallEnded, WasiError, toErrno } from "./errno.ts";
import { type Guest, toCTexts } from "./guest.ts";
import type { WasiFunctions } from "./wasi-names.ts";

/** Arguments, environment, clocks, random numbers and the end. */
export function processFunctions(guest: Guest, facts: CallFacts): WasiFunctions {
  const args = toCTexts(facts.args);
  const environment = toCTexts(Object.entries(facts.environment).map(([name, value]) => `${name}=${value}`));
  return {
    args_get: (list: number, buffer: number) => setTexts(guest, args, list, buffer),
    args_sizes_get: (count: number, size: number) => setSizes(guest, args, count, size),
    environ_get: (list: number, buffer: number) => setTexts(guest, environment, list, buffer),
    environ_sizes_get: (count: number, size: number) => setSizes(guest, environment, count, size),
    clock_res_get: (clock: number, result: number) => {
      readClock(clock);
      guest.set64(result, 1000);
    },
    clock_time_get: (clock: number, _precision: bigint, result: number) => guest.set64(result, readClock(clock)),
    random_get: (pointer: number, length: number) => {
      randomFillSync(guest.bytes(pointer, length));
    },
    proc_exit: (code: number) => {
      throw new CallEnded({ kind: "exit", code: code >>> 0 });
    },
    proc_raise: () => {
      throw new WasiError("notsup");
    },
    sched_yield: () => {},
  };
}

/** The time of a clock in nanoseconds: 0 is the time of day, 1 goes on steadily, and so do those of CPU time, 2 and 3. */
function readClock(clock: number): bigint {
  if (clock === 0) return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
  if (clock === 1 || clock === 2 || clock === 3) return process.hrtime.bigint();
  throw new WasiError("inval");
}

function setSizes(guest: Guest, texts: readonly Uint8Array[], count: number, size: number): void {
  guest.set32(count, texts.length);
  guest.set32(
    size,
    texts.reduce((sum, text) => sum + text.length, 0),
  );
}

function setTexts(guest: Guest, texts: readonly Uint8Array[], list: number, buffer: number): void {
  let place = buffer >>> 0;
  for (const [index, text] of texts.entries()) {
    guest.set32((list >>> 0) + index * 4, place);
    guest.setBytes(place, text);
    place += text.length;
  }
}

const subscriptionBytes = 48;
const eventBytes = 32;
const maxSubscriptions = 4096;

interface Subscription {
  readonly userData: bigint;
  /** 0 a clock, 1 something to read, 2 something to write. */
  readonly type: number;
  /** When a clock is due, in nanoseconds of the steady clock. */
  readonly dueAt: bigint;
  readonly error: number;
  readonly readableBytes: number;
}

/** Waiting: for a time, or for something to read or to write, which here never takes any time. */
export function pollFunctions(guest: Guest, descriptors: Descriptors): WasiFunctions {
  return {
    poll_oneoff: (from: number, to: number, count: number, result: number) => {
      if (count < 1 || count > maxSubscriptions) throw new WasiError("inval");
      const places = Array.from({ length: count }, (_, index) => (from >>> 0) + index * subscriptionBytes);
      const asked = places.map((place) => readSubscription(guest.view(), place, descriptors));
      const earliest = asked.reduce((least, { dueAt }) => (dueAt < least ? dueAt : least), asked[0]?.dueAt ?? 0n);
      sleepUntil(earliest);
      const now = readClock(1);
      const due = asked.filter(({ dueAt }) => dueAt <= now);
      for (const [index, event] of due.entries()) writeEvent(guest.view(), (to >>> 0) + index * eventBytes, event);
      guest.set32(result, due.length);
    },
  };
}

function readSubscription(view: DataView, place: number, descriptors: Descriptors): Subscription {
  const userData = view.getBigUint64(place, true);
  const type = view.getUint8(place + 8);
  if (type === 0) return { userData, type, dueAt: readDueTime(view, place), error: 0, readableBytes: 0 };
  try {
    const found = descriptors.get(view.getUint32(place + 16, true));
    const readableBytes = found.kind === "input" ? found.bytes.length - found.position : 0;
    return { userData, type, dueAt: 0n, error: 0, readableBytes };
  } catch (cause) {
    return { userData, type, dueAt: 0n, error: toErrno(cause), readableBytes: 0 };
  }
}

function readDueTime(view: DataView, place: number): bigint {
  const clock = view.getUint32(place + 16, true);
  const timeout = view.getBigUint64(place + 24, true);
  const isAbsolute = (view.getUint16(place + 40, true) & 1) !== 0;
  return readClock(1) + (isAbsolute ? timeout - readClock(clock) : timeout);
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread; one that is ended meanwhile does not wake up again. */
function sleepUntil(due: bigint): void {
  for (let left = due - readClock(1); left > 0n; left = due - readClock(1)) {
    Atomics.wait(neverNotified, 0, 0, Math.min(Number(left) / 1e6, 60_000));
  }
}

function writeEvent(view: DataView, place: number, { userData, type, error, readableBytes }: Subscription): void {
  view.setBigUint64(place, userData, true);
  view.setUint16(place + 8, error, true);
  view.setUint8(place + 10, type);
  view.setBigUint64(place + 16, BigInt(readableBytes), true);
  // Nothing more will come after what there is to read.
  view.setUint16(place + 24, type === 1 && readableBytes === 0 ? 1 : 0, true);
}
