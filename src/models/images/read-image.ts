import { KitbagError } from "../../core/errors.ts";
import type { ImageFile, Measure } from "./image-file.ts";
import { measureGif } from "./measure-gif.ts";
import { measureJpeg } from "./measure-jpeg.ts";
import { measurePng } from "./measure-png.ts";
import { measureWebp } from "./measure-webp.ts";

interface Format {
  readonly mediaType: string;
  /** Tells it by its first bytes, one character a byte. */
  readonly start: RegExp;
  /** Missing: it must be converted before anybody is sent it, and whoever converts it looks at it. */
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
