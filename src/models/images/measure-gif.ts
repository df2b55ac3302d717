import type { Measure } from "./image-file.ts";

const headerBytes = 13;
const imageBlock = 0x2c;
const extensionBlock = 0x21;
const trailer = 0x3b;

/** Looks at a GIF: its blocks fit, and there is an end. */
export const measureGif: Measure = (view) => {
  if (view.byteLength < headerBytes) return undefined;
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  let at: number | undefined = headerBytes + colorBytes(view.getUint8(10));
  while (at !== undefined && at < view.byteLength) {
    const block: number = view.getUint8(at);
    if (block === trailer) return { ...size, end: at + 1 };
    if (block === extensionBlock) at = skipParts(view, at + 2);
    else if (block === imageBlock && at + 10 <= view.byteLength) {
      at = skipParts(view, at + 11 + colorBytes(view.getUint8(at + 9)));
    } else return undefined;
  }
  return undefined;
};

/** How long the table of colours is, by its flags. */
function colorBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Finds what comes after data in parts: each begins with its length, the last is empty. */
function skipParts(view: DataView, from: number): number | undefined {
  for (let at = from; at < view.byteLength;) {
    const length = view.getUint8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
}
