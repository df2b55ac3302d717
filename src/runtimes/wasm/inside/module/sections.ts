import { createByteReader, toLeb } from "./byte-reader.ts";

/** A part of a module. What its content means depends on its number. */
export interface Section {
  readonly id: number;
  readonly content: Uint8Array;
}

/** The numbers of the sections that are looked at here. */
export const sectionIds = { custom: 0, table: 4, memory: 5, export: 7, start: 8 } as const;

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
