/** A part of a module. What its content means depends on its number. */
export interface Section {
  readonly id: number;
  readonly content: Uint8Array;
}

/** The numbers of the sections that are read here. */
export const sectionIds = { custom: 0, table: 4, memory: 5 } as const;

/** What a module begins with: the magic number and a version. */
export const preambleBytes = 8;

/** Reads the sections of a module one after the other. Throws a {@link RangeError} where it is cut off. */
export function* readSections(module: Uint8Array): Generator<Section> {
  const reader = createByteReader(module.subarray(preambleBytes));
  while (!reader.atEnd) {
    const id = reader.byte();
    yield { id, content: reader.bytes(reader.number()) };
  }
}

/** Writes a module that begins as `module` does and has the given sections. */
export function toModule(module: Uint8Array, sections: Iterable<Section>): Uint8Array {
  const parts: Uint8Array[] = [module.subarray(0, preambleBytes)];
  for (const { id, content } of sections) parts.push(Uint8Array.from([id, ...toLeb(content.length)]), content);
  return Buffer.concat(parts);
}

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
