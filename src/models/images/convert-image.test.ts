import sharp from "sharp";
import { expect, test } from "vitest";

import { makeBmp, makeImage } from "../../../test/support/make-image.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { convertImage, findImageLimits, fitsLimits } from "./convert-image.ts";
import { readImage } from "./read-image.ts";

const any = findImageLimits({ provider: "somebody.chat" });
const anthropic = findImageLimits({ provider: "anthropic.messages" });

test.for(["gif", "webp", "avif", "tiff"] as const)(
  "convertImage() makes what everybody takes of a %s",
  async (type) => {
    const image = readImage(await makeImage(type, { width: 40, height: 30 }), `x.${type}`);

    const made = await convertImage(image, any, any.maxEdge);

    expect(fitsLimits(image, any, any.maxEdge)).toBe(false);
    expect(fitsLimits(made, any, any.maxEdge)).toBe(true);
    expect(made.size).toEqual({ width: 40, height: 30 });
    const [red = 0, green = 0] = await sharp(made.bytes).removeAlpha().raw().toBuffer();
    expect(Math.abs(red - 200) + Math.abs(green - 30)).toBeLessThan(20);
  },
);

test("convertImage() makes a picture smaller that is too long, and keeps its shape", async () => {
  const image = readImage(await makeImage("png", { width: 9000, height: 90 }), "x");

  const made = await convertImage(image, anthropic, anthropic.maxEdge);

  expect(made).toMatchObject({ mediaType: "image/png", size: { width: 8000, height: 80 } });
});

test("convertImage() makes a picture smaller until its bytes fit", async () => {
  const image = readImage(await makeImage("png", { width: 900, height: 900, noise: true }), "x");
  const small = { ...any, maxBytes: 40_000 };

  const made = await convertImage(image, small, small.maxEdge);

  expect(image.bytes.length).toBeGreaterThan(1_000_000);
  expect(made.bytes.length).toBeLessThanOrEqual(40_000);
  expect(made.mediaType).toBe("image/jpeg");
});

test("convertImage() says so if a picture stays too large", async () => {
  const image = readImage(await makeImage("png", { width: 200, height: 200, noise: true }), "x");

  const made = convertImage(image, { ...any, maxBytes: 50 }, any.maxEdge);

  await expect(made).rejects.toThrow(/stays larger than the 50 bytes/u);
});

test("convertImage() turns a photograph the way that it is looked at, and drops what the camera wrote", async () => {
  const picture = sharp({ create: { width: 400, height: 200, channels: 3, background: "red" } });
  const bytes = await picture
    .withExif({ IFD0: { Artist: "somebody" } })
    .withMetadata({ orientation: 6 })
    .webp()
    .toBuffer();

  const made = await convertImage(readImage(new Uint8Array(bytes), "x"), any, any.maxEdge);

  expect(made.size).toEqual({ width: 200, height: 400 });
  const { exif, orientation } = await sharp(made.bytes).metadata();
  expect({ exif, orientation }).toEqual({ exif: undefined, orientation: undefined });
});

test("convertImage() takes the first picture of a moving one", async () => {
  const frames = await Promise.all(["red", "blue"].map((background) => frame(background)));
  const bytes = await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();

  const made = await convertImage(readImage(new Uint8Array(bytes), "x"), any, any.maxEdge);

  const [red, , blue] = await sharp(made.bytes).raw().toBuffer();
  expect(made.size).toEqual({ width: 10, height: 10 });
  expect({ red, blue }).toEqual({ red: 255, blue: 0 });
});

test.for([
  ["a BMP, which it cannot read", makeBmp()],
  ["what only begins like a TIFF", new Uint8Array(Buffer.from("II*\0 and no more"))],
  ["what only begins like an AVIF", new Uint8Array(Buffer.from("\0\0\0\x20ftypavif and no more"))],
] as const)("convertImage() says what it could not convert: %s", async ([, bytes]) => {
  const made = convertImage(readImage(bytes, "x"), any, any.maxEdge);

  await expect(made).rejects.toMatchObject({ code: "image-invalid", details: { image: "x" } });
  await expect(made).rejects.toThrow(/; save it as PNG or JPEG$/u);
});

test("convertImage() says so if pixels of a picture are broken", async () => {
  const bytes = Buffer.from(await makeImage("png", { width: 9000, height: 9 }));
  bytes.fill(0x55, 60, bytes.length - 20);

  const made = convertImage(readImage(new Uint8Array(bytes), "x"), anthropic, anthropic.maxEdge);

  await expect(made).rejects.toMatchObject({ code: "image-invalid" });
});

test("convertImage() does not unpack more pixels than there may be", async () => {
  const bytes = new Uint8Array(await tiffBomb());

  const made = convertImage(readImage(bytes, "bomb.tiff"), any, any.maxEdge);

  await expect(made).rejects.toThrow(/pixel/u);
});

test("convertImage() says what to install if sharp is missing", async () => {
  const image = readImage(await makeImage("gif"), "x.gif");

  const made = convertImage(image, any, any.maxEdge, (name, user) => loadPackage(`no-${name}`, user));

  await expect(made).rejects.toMatchObject({ code: "package-missing", details: { peer: "no-sharp" } });
  await expect(made).rejects.toThrow(/"x.gif" \(image\/gif, \d+ bytes\).*npm install no-sharp/u);
});

function frame(background: string): Promise<Buffer> {
  return sharp({ create: { width: 10, height: 10, channels: 3, background } })
    .png()
    .toBuffer();
}

/** A TIFF of a few bytes that says it is 60,000 pixels wide and high. */
function tiffBomb(): Promise<Buffer> {
  const entries: readonly (readonly [tag: number, type: number, value: number])[] = [
    [256, 4, 60_000],
    [257, 4, 60_000],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [277, 3, 1],
    [278, 4, 60_000],
    [279, 4, 100],
  ];
  const bytes = Buffer.alloc(8 + 2 + entries.length * 12 + 4 + 100);
  bytes.write("II*\0", "latin1");
  bytes.writeUInt32LE(8, 4);
  bytes.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, type, value]] of entries.entries()) {
    const at = 10 + index * 12;
    bytes.writeUInt16LE(tag, at);
    bytes.writeUInt16LE(type, at + 2);
    bytes.writeUInt32LE(1, at + 4);
    bytes.writeUInt32LE(value, at + 8);
  }
  return Promise.resolve(bytes);
}
