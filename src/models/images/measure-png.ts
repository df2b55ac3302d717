import type { Measure } from "./image-file.ts";

const signatureBytes = 8;
/** Length, name and check sum. */
const chunkBytes = 12;
const headerName = 0x49484452;
const endName = 0x49454e44;

/** Looks at a PNG: its header comes first, its chunks fit, and there is an end. */
export const measurePng: Measure = (view) => {
  let at = signatureBytes;
  let size: { width: number; height: number } | undefined;
  while (at + chunkBytes <= view.byteLength) {
    const length = view.getUint32(at);
    const name = view.getUint32(at + 4);
    if (size === undefined && (name !== headerName || length !== 13)) return undefined;
    const next = at + chunkBytes + length;
    if (next > view.byteLength) return undefined;
    size ??= { width: view.getUint32(at + 8), height: view.getUint32(at + 12) };
    if (name === endName) return { ...size, end: next };
    at = next;
  }
  return undefined;
};
