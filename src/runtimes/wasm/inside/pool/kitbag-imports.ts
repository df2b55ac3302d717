import type { Guest } from "../wasi/guest.ts";

/** Sends a request to the process outside and waits for its answer. */
type Ask = (request: Uint8Array) => Uint8Array;

/**
 * The functions of the import module `kitbag`. `call` takes a request in JSON and answers with the length of the answer, which
 * `read` then copies: all at once, or piece by piece until it answers 0. Both answer -1 for a place outside the module's memory.
 */
export function kitbagImports(guest: Guest, ask: Ask): Readonly<Record<string, (...values: never[]) => number>> {
  let answer: Uint8Array = new Uint8Array(0);
  let position = 0;

  return {
    call: (pointer: number, length: number) =>
      orMinusOne(() => {
        const request = guest.bytes(pointer, length).slice();
        answer = ask(request);
        position = 0;
        return answer.length;
      }),
    read: (pointer: number, room: number) =>
      orMinusOne(() => {
        const part = answer.subarray(position, position + (room >>> 0));
        guest.setBytes(pointer, part);
        position += part.length;
        return part.length;
      }),
  };
}

function orMinusOne(act: () => number): number {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof TypeError) return -1;
    throw cause;
  }
}
