import type { Descriptors } from "./descriptors.ts";
import { toErrno, WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { readClock } from "./process-functions.ts";
import type { WasiFunctions } from "./wasi-function.ts";

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

const nobody = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread; one that is ended meanwhile does not wake up again. */
function sleepUntil(due: bigint): void {
  for (let left = due - readClock(1); left > 0n; left = due - readClock(1)) {
    Atomics.wait(nobody, 0, 0, Math.min(Number(left) / 1e6, 60_000));
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
