import fc from "fast-check";
import { expect, test } from "vitest";

import { makeBmp, makeImage } from "../../../test/support/make-image.ts";
import { isKitbagError } from "../../core/errors.ts";
import { readImage } from "./read-image.ts";

const measured = ["png", "jpeg", "gif", "webp"] as const;

test.for(measured)("readImage() finds type and size of a %s", async (type) => {
  const bytes = await makeImage(type, { width: 301, height: 7 });

  const image = readImage(bytes, "x");

  expect(image).toMatchObject({ mediaType: `image/${type}`, size: { width: 301, height: 7 } });
  expect(image.bytes).toEqual(bytes);
});

test.for(["avif", "tiff"] as const)("readImage() finds the type of a %s", async (type) => {
  expect(readImage(await makeImage(type), "x").mediaType).toBe(`image/${type}`);
});

test("readImage() finds the type of a BMP", () => {
  expect(readImage(makeBmp(), "x").mediaType).toBe("image/bmp");
});

test.for([
  ["lossy", 0x56503820],
  ["lossless", 0x5650384c],
  ["extended", 0x56503858],
] as const)("readImage() finds the size of a %s WebP", async ([kind, name]) => {
  const { default: sharp } = await import("sharp");
  const background = { r: 1, g: 2, b: 3, alpha: 0.5 };
  const picture = sharp({ create: { width: 400, height: 300, channels: 4, background } });
  const flat = kind === "extended" ? picture : picture.flatten();
  const bytes = new Uint8Array(await flat.webp({ lossless: kind === "lossless" }).toBuffer());

  const image = readImage(bytes, "x");

  expect(Buffer.from(bytes).readUInt32BE(12)).toBe(name);
  expect(image.size).toEqual({ width: 400, height: 300 });
});

test.for(measured)("readImage() cuts off what comes after the end of a %s", async (type) => {
  const bytes = await makeImage(type);
  const both = Buffer.concat([bytes, Buffer.from("PK\x03\x04 and <script>alert(1)</script>")]);

  const image = readImage(new Uint8Array(both), "x");

  expect(image.bytes).toEqual(bytes);
});

test.for(measured)("readImage() refuses a %s that is cut off, wherever", async (type) => {
  const bytes = await makeImage(type);
  const accepted: number[] = [];

  for (let length = 0; length < bytes.length; length++) {
    try {
      readImage(bytes.subarray(0, length), "x");
      accepted.push(length);
    } catch (cause) {
      if (!isKitbagError(cause, "image-invalid")) throw cause;
    }
  }

  expect(accepted).toEqual([]);
});

test("readImage() reads a JPEG with several scans, restarts and fill bytes", async () => {
  const { default: sharp } = await import("sharp");
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: "red", noise } });
  const bytes = await picture.jpeg({ progressive: true }).toBuffer();
  const filled = Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff, 0xff]), bytes.subarray(2)]);

  expect(readImage(new Uint8Array(filled), "x").size).toEqual({ width: 64, height: 48 });
});

test.for<[what: string, bytes: Uint8Array | string, reason: RegExp]>([
  ["no bytes", "", /it is empty/u],
  ["a text", "hello", /no kind of picture/u],
  ["an SVG", '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', /SVG.*convert it to PNG/u],
  ["an SVG with a comment", `<!--${"x".repeat(500)}--><SVG >`, /SVG/u],
  ["a page", "<!DOCTYPE html><script>", /HTML/u],
  ["a PDF", "%PDF-1.7", /PDF/u],
  ["a script that begins like a GIF", "GIF89a=1;alert(document.domain)//", /cut off or broken/u],
  ["an archive that begins like a PNG", "\x89PNG\r\n\x1a\nPK\x03\x04", /cut off or broken/u],
  ["a sound with the frame of a WebP", "RIFF\x24\0\0\0WAVEfmt ", /no kind of picture/u],
  ["a program", "\x7fELF", /no kind of picture/u],
])("readImage() refuses %s", ([, bytes, reason]) => {
  const read = (): unknown =>
    readImage(typeof bytes === "string" ? new Uint8Array(Buffer.from(bytes, "latin1")) : bytes, "x");

  expect(read).toThrow(reason);
});

test.for([
  [0, 10],
  [10, 0],
  [0xffff_ffff, 0xffff_ffff],
  [100_000, 100_000],
] as const)("readImage() refuses a PNG that says it has %i × %i pixels", async ([width, height]) => {
  const bytes = Buffer.from(await makeImage("png"));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);

  expect(() => readImage(new Uint8Array(bytes), "bomb.png")).toThrow(/"bomb.png": it has (?:no|\d+ × \d+) pixels/u);
});

test("readImage() refuses a length that leads out of the file", async () => {
  const bytes = Buffer.from(await makeImage("png"));
  bytes.writeUInt32BE(0xffff_fff0, 33);

  expect(() => readImage(new Uint8Array(bytes), "x")).toThrow(/cut off or broken/u);
});

test("readImage() looks only at its own bytes of a larger buffer", async () => {
  const bytes = await makeImage("png");
  const around = new Uint8Array(bytes.length + 20).fill(0xff);
  around.set(bytes, 10);

  const image = readImage(around.subarray(10, 10 + bytes.length), "x");

  expect(image.bytes).toEqual(bytes);
});

test("readImage() either reads or refuses, whatever the bytes are", async () => {
  const seeds = await Promise.all(measured.map((type) => makeImage(type)));
  const changes = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 12 });

  fc.assert(
    fc.property(fc.constantFrom(...seeds), changes, fc.nat(4000), (seed, list, length) => {
      const bytes = seed.slice(0, length);
      for (const [at, value] of list) if (bytes.length > 0) bytes[at % bytes.length] = value;
      try {
        const image = readImage(bytes, "x");
        return image.bytes.length <= bytes.length;
      } catch (cause) {
        return isKitbagError(cause, "image-invalid");
      }
    }),
    { numRuns: 2000 },
  );
});
