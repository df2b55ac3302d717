import type { ImageSize, Measure } from "./image-file.ts";

const shortest = 30;

/** Looks at a WebP: all of it is there, and its first chunk has the size. */
export const measureWebp: Measure = (view) => {
  if (view.byteLength < shortest) return undefined;
  const end = 8 + view.getUint32(4, true);
  const size = findSize(view);
  return size === undefined || end > view.byteLength || end < shortest ? undefined : { ...size, end };
};

function findSize(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    // "VP8 ": after three bytes of flags and three that never change.
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    // "VP8L": fourteen bits each, less one.
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    // "VP8X": three bytes each, less one.
    case 0x56503858:
      return { width: getUint24(view, 24) + 1, height: getUint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

function getUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
