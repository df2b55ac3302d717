import { KitbagError } from "../../core/errors.ts";
import type { ImageFile, ImageSize, Measure } from "./image-file.ts";

const endMarker = 0xd9;
const scanMarker = 0xda;

/** Looks at a JPEG: its segments fit, one of them has the size, and there is an end. */
const measureJpeg: Measure = (view) => {
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

const headerBytes = 13;
const imageBlock = 0x2c;
const extensionBlock = 0x21;
const trailer = 0x3b;

/** Looks at a GIF: its blocks fit, and there is an end. */
const measureGif: Measure = (view) => {
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

const shortest = 30;

/** Looks at a WebP: all of it is there, and its first chunk has the size. */
const measureWebp: Measure = (view) => {
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

const signatureBytes = 8;
/** Length, name and check sum. */
const chunkBytes = 12;
const headerName = 0x49484452;
const endName = 0x49454e44;

/** Looks at a PNG: its header comes first, its chunks fit, and there is an end. */
const measurePng: Measure = (view) => {
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

interface Format {
  readonly mediaType: string;
  /** Matches the first bytes of a file, one character a byte. */
  readonly start: RegExp;
  /** Absent for formats that must be converted before they are sent; the converter measures them. */
  readonly measure?: Measure;
}

const formats: readonly Format[] = [
  { mediaType: "image/png", start: /^\x89PNG\r\n\x1a\n/u, measure: measurePng },
  { mediaType: "image/jpeg", start: /^\xff\xd8\xff/u, measure: measureJpeg },
  { mediaType: "image/gif", start: /^GIF8[79]a/u, measure: measureGif },
  { mediaType: "image/webp", start: /^RIFF.{4}WEBPVP8[ LX]/su, measure: measureWebp },
  { mediaType: "image/avif", start: /^.{4}ftypavi[fs]/su },
  { mediaType: "image/heic", start: /^.{4}ftyp(?:hei[cmsx]|hev[cmsx])/su },
  { mediaType: "image/heif", start: /^.{4}ftyp(?:mif1|msf1)/su },
  { mediaType: "image/tiff", start: /^(?:II\*\0|MM\0\*)/u },
  { mediaType: "image/bmp", start: /^BM.{4}\0{4}/su },
];

const lookedAt = 1024;

/** The most pixels that a picture may have: what a small file unpacks to may fill the memory. */
export const maxPixels = 100_000_000;

/**
 * Finds out what a picture is by its bytes. What comes after its end is cut off: so no other file is sent along with it.
 *
 * @throws {KitbagError} `image-invalid` if it is empty, no picture, a drawing (SVG), cut off, or too many pixels.
 */
export function readImage(bytes: Uint8Array, name: string): ImageFile {
  const refuse = (reason: string): KitbagError<"image-invalid"> =>
    new KitbagError("image-invalid", { image: name, reason });
  if (bytes.length === 0) throw refuse("it is empty");
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, lookedAt)).toString("latin1");
  const format = formats.find((each) => each.start.test(start));
  if (format === undefined) throw refuse(describeOther(start));
  const { mediaType, measure } = format;
  if (measure === undefined) return { name, mediaType, bytes };
  const measured = measure(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (measured === undefined) throw refuse(`it begins like ${mediaType}, but is cut off or broken`);
  const { width, height, end } = measured;
  if (width === 0 || height === 0) throw refuse("it has no pixels");
  if (width * height > maxPixels) {
    throw refuse(`it has ${width} × ${height} pixels, and the most are ${maxPixels}; make it smaller`);
  }
  return { name, mediaType, bytes: bytes.subarray(0, end), size: { width, height } };
}

function describeOther(start: string): string {
  if (/<svg[\s>]/iu.test(start)) return "it is an SVG, which is not made of pixels; convert it to PNG first";
  if (/^\s*(?:<!doctype html|<html)/iu.test(start)) return "it is a page (HTML), and not a picture";
  if (start.startsWith("%PDF-")) return "it is a PDF, and not a picture";
  return "its bytes are of no kind of picture that is known (PNG, JPEG, GIF, WebP, AVIF, HEIC, TIFF, BMP)";
}
