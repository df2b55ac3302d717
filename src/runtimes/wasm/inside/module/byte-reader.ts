/** Reads numbers and bytes one after the other. Throws a {@link RangeError} at the end. */
export interface ByteReader {
  readonly position: number;
  readonly atEnd: boolean;
  byte(): number;
  /** An unsigned number of at most 32 bits, in LEB128. */
  number(): number;
  /** Passes over a number of any sign and size. */
  skipNumber(): void;
  bytes(count: number): Uint8Array;
}

/** Makes a reader that begins at the start of `bytes`. */
export function createByteReader(bytes: Uint8Array): ByteReader {
  let position = 0;

  function byte(): number {
    const value = bytes[position];
    if (value === undefined) throw new RangeError(`it ends in the middle, after ${bytes.length} bytes`);
    position += 1;
    return value;
  }

  return {
    get position() {
      return position;
    },
    get atEnd() {
      return position >= bytes.length;
    },
    byte,
    number() {
      let value = 0;
      for (let shift = 0; shift < 35; shift += 7) {
        const next = byte();
        value += (next & 0x7f) * 2 ** shift;
        if (next < 0x80) {
          if (value > 0xffff_ffff) break;
          return value;
        }
      }
      throw new RangeError(`it has a number of more than 32 bits before byte ${position}`);
    },
    skipNumber() {
      for (let count = 0; count < 10; count += 1) if (byte() < 0x80) return;
      throw new RangeError(`it has a number of more than 64 bits before byte ${position}`);
    },
    bytes(count) {
      const taken = bytes.subarray(position, position + count);
      if (taken.length < count) throw new RangeError(`it ends in the middle, after ${bytes.length} bytes`);
      position += count;
      return taken;
    },
  };
}

/** Writes an unsigned number in LEB128. */
export function toLeb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}
