import type { GuestMemory } from "../module/web-assembly.ts";
import { WasiError } from "./errno.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

/**
 * The memory of the module that runs, as its host sees it. Everything throws a {@link RangeError} for a place outside of it; the
 * numbers come from the module and can be anything.
 */
export interface Guest {
  attach(memory: GuestMemory): void;
  /** Valid until the module runs again, because memory that grows moves. */
  view(): DataView;
  bytes(pointer: number, length: number): Uint8Array;
  /** Text in UTF-8. */
  text(pointer: number, length: number): string;
  setBytes(pointer: number, bytes: Uint8Array): void;
  set32(pointer: number, value: number): void;
  set64(pointer: number, value: number | bigint): void;
  /** The buffers of a list of pointers and lengths, one after the other. */
  buffers(pointer: number, count: number): Iterable<Uint8Array>;
}

/** Makes the view of a memory that is attached once the instance is there. */
export function createGuest(): Guest {
  let memory: GuestMemory | undefined;
  let view: DataView | undefined;

  function current(): DataView {
    if (memory === undefined) throw new RangeError("the module has no memory yet");
    if (view?.buffer !== memory.buffer) view = new DataView(memory.buffer);
    return view;
  }

  const bytes = (pointer: number, length: number): Uint8Array =>
    new Uint8Array(current().buffer as ArrayBuffer, pointer >>> 0, length >>> 0);

  return {
    attach(given) {
      memory = given;
    },
    view: current,
    bytes,
    text(pointer, length) {
      try {
        return decoder.decode(bytes(pointer, length));
      } catch (cause) {
        if (cause instanceof RangeError) throw cause;
        throw new WasiError("ilseq");
      }
    },
    setBytes: (pointer, from) => bytes(pointer, from.length).set(from),
    set32: (pointer, value) => current().setUint32(pointer >>> 0, value, true),
    set64: (pointer, value) => current().setBigUint64(pointer >>> 0, BigInt(value), true),
    *buffers(pointer, count) {
      for (let index = 0; index < count >>> 0; index += 1) {
        const place = (pointer >>> 0) + index * 8;
        yield bytes(current().getUint32(place, true), current().getUint32(place + 4, true));
      }
    },
  };
}

/** Texts as C has them: each with a zero at its end. */
export function toCTexts(texts: readonly string[]): Uint8Array[] {
  return texts.map((text) => encoder.encode(`${text.replaceAll("\0", "")}\0`));
}
