const magic = [0x00, 0x61, 0x73, 0x6d];
const sections = { imports: 2, exports: 7 } as const;
const kinds = { function: 0, table: 1, memory: 2, global: 3, tag: 4 } as const;

/** The modules whose functions a tool may import. */
const hostModules = new Set(["wasi_snapshot_preview1", "kitbag"]);

/**
 * Tells what keeps bytes from being a WASI command module; nothing if they are one. Reads the list of what is imported and
 * exported only: the code is not compiled here, because its author is not trusted.
 */
export function checkModule(bytes: Uint8Array): string | undefined {
  if (magic.some((byte, index) => bytes[index] !== byte)) return "it is not a WebAssembly module";
  if (bytes[6] === 1) return "it is a component; only modules (WASI preview 1) are tools";
  if (bytes[4] !== 1 || bytes[5] !== 0 || bytes[6] !== 0 || bytes[7] !== 0) return "its version is not 1";
  try {
    return checkNames(readNames(bytes));
  } catch {
    return "it is damaged";
  }
}

interface Names {
  readonly imports: readonly { readonly module: string; readonly name: string; readonly kind: number }[];
  readonly exports: readonly { readonly name: string; readonly kind: number }[];
}

function checkNames({ imports, exports }: Names): string | undefined {
  const foreign = imports.find(({ module, kind }) => !hostModules.has(module) || kind !== kinds.function);
  if (foreign !== undefined) {
    return `it imports ${JSON.stringify(`${foreign.module}.${foreign.name}`)}, which no host of tools has`;
  }
  const has = (name: string, kind: number): boolean => exports.some((one) => one.name === name && one.kind === kind);
  if (!has("_start", kinds.function)) return 'it has no "_start": a tool is a program with a main function';
  if (!has("memory", kinds.memory)) return 'it does not export its "memory"';
  return undefined;
}

function readNames(bytes: Uint8Array): Names {
  const imports: Names["imports"][number][] = [];
  const exports: Names["exports"][number][] = [];
  const reader = createReader(bytes, 8);
  while (!reader.isAtEnd()) {
    const section = reader.byte();
    const part = createReader(reader.bytes(reader.number()), 0);
    if (section === sections.imports) {
      for (let count = part.number(); count > 0; count -= 1) imports.push(readImport(part));
    } else if (section === sections.exports) {
      for (let count = part.number(); count > 0; count -= 1) {
        const name = part.text();
        const kind = part.byte();
        part.number();
        exports.push({ name, kind });
      }
    }
  }
  return { imports, exports };
}

function readImport(part: Reader): Names["imports"][number] {
  const entry = { module: part.text(), name: part.text(), kind: part.byte() };
  // Only functions are allowed, so what follows another import need not be understood.
  if (entry.kind === kinds.function) part.number();
  else if (entry.kind === kinds.memory || entry.kind === kinds.table) {
    if (entry.kind === kinds.table) part.byte();
    const hasMost = (part.byte() & 1) === 1;
    part.number();
    if (hasMost) part.number();
  } else part.bytes(2);
  return entry;
}

interface Reader {
  isAtEnd(): boolean;
  byte(): number;
  bytes(length: number): Uint8Array;
  /** An unsigned number of up to 32 bits (LEB128). */
  number(): number;
  text(): string;
}

function createReader(source: Uint8Array, start: number): Reader {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let at = start;
  const reader: Reader = {
    isAtEnd: () => at >= source.length,
    byte() {
      const byte = source[at++];
      if (byte === undefined) throw new RangeError("the bytes end too early");
      return byte;
    },
    bytes(length) {
      if (length > source.length - at) throw new RangeError("the bytes end too early");
      at += length;
      return source.subarray(at - length, at);
    },
    number() {
      let value = 0;
      for (let shift = 0; shift < 35; shift += 7) {
        const byte = reader.byte();
        value += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) return value;
      }
      throw new RangeError("a number has too many bytes");
    },
    text: () => decoder.decode(reader.bytes(reader.number())),
  };
  return reader;
}
