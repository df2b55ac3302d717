import type { Measure } from "./image-file.ts";

const endMarker = 0xd9;
const scanMarker = 0xda;

/** Looks at a JPEG: its segments fit, one of them has the size, and there is an end. */
export const measureJpeg: Measure = (view) => {
  let at = 2;
  let size: { width: number; height: number } | undefined;
  while (at + 2 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Any number of 0xff may stand before a marker.
    if (marker === 0xff) at += 1;
    else if (marker === endMarker) return size && { ...size, end: at + 2 };
    else if (isBare(marker)) at += 2;
    else {
      if (at + 4 > view.byteLength) return undefined;
      const next = at + 2 + view.getUint16(at + 2);
      if (isFrame(marker)) {
        if (at + 9 > view.byteLength) return undefined;
        size ??= { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
      }
      at = marker === scanMarker ? findMarker(view, next) : next;
    }
  }
  return undefined;
};

/** Markers without a length. */
function isBare(marker: number): boolean {
  return marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/** Markers of a frame, the one with the size; three of their row mean something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Finds where the data of a scan ends: at the first marker that is neither an escaped 0xff nor a restart. */
function findMarker(view: DataView, from: number): number {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}
