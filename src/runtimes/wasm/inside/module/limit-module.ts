import {
  createByteReader,
  toLeb,
  type ByteReader,
  preambleBytes,
  readSections,
  sectionIds,
  toModule,
  type Section,
} from "./sections.ts";
import { RefusedModule } from "./check-module.ts";

const pageBytes = 64 * 1024;
/** An entry of a table costs up to 16 bytes of the host, whatever the module's memory is. Large programs have some 50,000. */
const maxTableEntries = 1_000_000;

/**
 * Rewrites a module so that all its memories together cannot grow beyond `memoryBytes`, nor its tables beyond a fixed number of
 * entries. Nothing else of Node bounds them: the limits of a worker do not count memory of WASM. Custom sections (names, debug
 * information) are left out, because nothing here reads them.
 *
 * @throws {RefusedModule} When it is no module, or one whose memory cannot be bounded.
 */
export function limitModule(bytes: Uint8Array, memoryBytes: number): Uint8Array {
  checkPreamble(bytes);
  try {
    return toModule(bytes, limitSections(bytes, memoryBytes));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new RefusedModule(`it is no WASM module, or a damaged one: ${cause.message}`);
  }
}

function* limitSections(bytes: Uint8Array, memoryBytes: number): Generator<Section> {
  for (const { id, content } of readSections(bytes)) {
    if (id !== sectionIds.custom) yield { id, content: limitSection(id, content, memoryBytes) };
  }
}

const magic = [0x00, 0x61, 0x73, 0x6d];

function checkPreamble(bytes: Uint8Array): void {
  if (!magic.every((value, index) => bytes[index] === value)) {
    throw new RefusedModule('it is no WASM module: it does not begin with "\\0asm"');
  }
  const [version, , layer] = bytes.subarray(4, preambleBytes);
  if (layer === 1) {
    throw new RefusedModule(
      "it is a WASM component, and only modules run here; build a WASI preview 1 command instead, in Rust with --target wasm32-wasip1",
    );
  }
  if (version !== 1 || layer !== 0)
    throw new RefusedModule(`it has the unknown version ${version ?? "(none)"} of WASM`);
}

function limitSection(id: number, content: Uint8Array, memoryBytes: number): Uint8Array {
  if (id === sectionIds.memory) return limitMemories(content, Math.floor(memoryBytes / pageBytes));
  if (id === sectionIds.table) return limitTables(content);
  return content;
}

interface Range {
  readonly least: number;
  readonly most: number | undefined;
}

function limitMemories(content: Uint8Array, pages: number): Uint8Array {
  const reader = createByteReader(content);
  const count = reader.number();
  const share = Math.floor(pages / Math.max(1, count));
  const out = toLeb(count);
  for (let index = 0; index < count; index += 1) {
    const { least, most = share } = readRange(reader, "memory");
    if (least > share) {
      const needed = Math.ceil((least * pageBytes) / 2 ** 20);
      const limit = Math.floor((share * pageBytes) / 2 ** 20);
      throw new RefusedModule(`it needs ${needed} MiB of memory to begin with, and may use ${limit} MiB`);
    }
    out.push(1, ...toLeb(least), ...toLeb(Math.min(most, share)));
  }
  return Uint8Array.from(out);
}

function limitTables(content: Uint8Array): Uint8Array {
  const reader = createByteReader(content);
  const count = reader.number();
  const share = Math.floor(maxTableEntries / Math.max(1, count));
  const parts: Uint8Array[] = [Uint8Array.from(toLeb(count))];
  for (let index = 0; index < count; index += 1) {
    const start = reader.position;
    const first = reader.byte();
    const hasValue = first === 0x40;
    if (hasValue) reader.byte();
    skipReferenceType(reader, hasValue ? reader.byte() : first);
    const type = content.subarray(start, reader.position);
    const { least, most = share } = readRange(reader, "table");
    if (least > share) throw new RefusedModule(`it has a table of ${least} entries, and may have ${share}`);
    const valueStart = reader.position;
    if (hasValue) skipConstant(reader);
    const value = content.subarray(valueStart, reader.position);
    parts.push(type, Uint8Array.from([1, ...toLeb(least), ...toLeb(Math.min(most, share))]), value);
  }
  return Buffer.concat(parts);
}

function readRange(reader: ByteReader, what: "memory" | "table"): Range {
  const flags = reader.byte();
  if ((flags & 2) !== 0) throw new RefusedModule(`its ${what} is shared between threads; build it without threads`);
  if ((flags & 4) !== 0) throw new RefusedModule(`its ${what} has 64-bit addresses; build it for wasm32`);
  if (flags > 1) throw new RefusedModule(`its ${what} is of a kind that cannot be bounded (flags ${flags})`);
  return { least: reader.number(), most: flags === 1 ? reader.number() : undefined };
}

/** References to a type of their own are written with its number. */
function skipReferenceType(reader: ByteReader, first: number): void {
  if (first === 0x63 || first === 0x64) reader.skipNumber();
}

/** The instructions that a constant of a reference type can be made of, each with one number. */
const constantInstructions: ReadonlySet<number> = new Set([0x23, 0x41, 0x42, 0xd0, 0xd2]);
const endInstruction = 0x0b;

function skipConstant(reader: ByteReader): void {
  for (;;) {
    const instruction = reader.byte();
    if (instruction === endInstruction) return;
    if (!constantInstructions.has(instruction)) {
      throw new RefusedModule(`its table begins with a value that cannot be read (instruction ${instruction})`);
    }
    reader.skipNumber();
  }
}
