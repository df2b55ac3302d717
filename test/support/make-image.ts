import sharp from "sharp";

/** The types of pictures that a test can make. */
export type MadeType = "png" | "jpeg" | "gif" | "webp" | "avif" | "tiff";

/** Makes a picture of one colour, or of noise, which no format makes much smaller. */
export async function makeImage(
  type: MadeType,
  { width = 8, height = 6, noise = false }: { width?: number; height?: number; noise?: boolean } = {},
): Promise<Uint8Array> {
  const background = { r: 200, g: 30, b: 90 };
  const filling = noise ? { noise: { type: "gaussian" as const, mean: 128, sigma: 60 } } : {};
  const picture = sharp({ create: { width, height, channels: 3, background, ...filling } });
  return new Uint8Array(await picture.toFormat(type).toBuffer());
}

/** Makes a picture that nobody makes but by hand: 24 bits a pixel, one colour. */
export function makeBmp(width = 8, height = 6): Uint8Array {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + row * height, 0x40);
  bytes.fill(0, 0, 54);
  bytes.write("BM");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  bytes.writeUInt32LE(row * height, 34);
  return new Uint8Array(bytes);
}
