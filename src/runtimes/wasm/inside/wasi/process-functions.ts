import { randomFillSync } from "node:crypto";

import type { CallFacts } from "../wire/messages.ts";
import { CallEnded } from "./call-ended.ts";
import { WasiError } from "./errno.ts";
import { toCTexts, type Guest } from "./guest.ts";
import type { WasiFunctions } from "./wasi-function.ts";

/** Arguments, environment (which are known only when the call begins), clocks, random numbers and the end. */
export function processFunctions(guest: Guest, getFacts: () => CallFacts): WasiFunctions {
  const args = (): Uint8Array[] => toCTexts(getFacts().args);
  const environment = (): Uint8Array[] =>
    toCTexts(Object.entries(getFacts().environment).map(([name, value]) => `${name}=${value}`));
  return {
    args_get: (list: number, buffer: number) => setTexts(guest, args(), list, buffer),
    args_sizes_get: (count: number, size: number) => setSizes(guest, args(), count, size),
    environ_get: (list: number, buffer: number) => setTexts(guest, environment(), list, buffer),
    environ_sizes_get: (count: number, size: number) => setSizes(guest, environment(), count, size),
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
export function readClock(clock: number): bigint {
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
