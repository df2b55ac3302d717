import { createByteReader, toLeb, readSections, sectionIds, toModule, type Section } from "./sections.ts";

/** A module that runs nothing while it is instantiated. */
export interface HeldModule {
  readonly bytes: Uint8Array;
  /** Under which name it exports what would have run then; it must be called first. */
  readonly start?: string;
}

const functionKind = 0;

/**
 * Rewrites a valid module so that its instance can be made before there is a call: the function that would run at once is exported
 * instead. One that exports nothing is left as it is.
 */
export function holdStart(bytes: Uint8Array): HeldModule {
  const sections = [...readSections(bytes)];
  const start = sections.find(({ id }) => id === sectionIds.start);
  const exports = sections.find(({ id }) => id === sectionIds.export);
  if (start === undefined || exports === undefined) return { bytes };
  const name = findFreeName(readNames(exports.content));
  const held = sections
    .filter((section) => section !== start)
    .map((section) => (section === exports ? addExport(exports, name, start.content) : section));
  return { bytes: toModule(bytes, held), start: name };
}

function readNames(exports: Uint8Array): ReadonlySet<string> {
  const reader = createByteReader(exports);
  const names = new Set<string>();
  for (let left = reader.number(); left > 0; left -= 1) {
    names.add(Buffer.from(reader.bytes(reader.number())).toString("utf8"));
    // What kind of thing it is, and which one.
    reader.byte();
    reader.number();
  }
  return names;
}

function findFreeName(taken: ReadonlySet<string>): string {
  let name = "kitbag:start";
  while (taken.has(name)) name += "_";
  return name;
}

function addExport({ id, content }: Section, name: string, index: Uint8Array): Section {
  const reader = createByteReader(content);
  const count = reader.number();
  const own = content.subarray(reader.position);
  const text = Buffer.from(name);
  const head = Uint8Array.from(toLeb(count + 1));
  return {
    id,
    content: Buffer.concat([head, own, Uint8Array.from(toLeb(text.length)), text, Uint8Array.of(functionKind), index]),
  };
}
