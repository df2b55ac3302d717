import sharp from "sharp";

import type { ScriptedReply } from "./model-server-answer.ts";
import type { ReceivedRequest } from "./model-server.ts";

/**
 * Answers like a model that sees, but sees only one thing: it decodes the pictures that arrived, looks for the first with something red in
 * it, and says which that is and where, in the form that the question asks for. In the place of Claude it sees pictures as
 * small as Claude does.
 */
export async function lookForRed({ dialect, images, texts }: ReceivedRequest): Promise<ScriptedReply> {
  const question = texts.join("\n");
  for (const [index, { bytes }] of images.entries()) {
    if (bytes === undefined) return { text: "There is no picture." };
    const found = await findRed(dialect === "anthropic" ? await shrinkForClaude(bytes) : bytes);
    if (found === undefined) continue;
    const { width, height, left, top, right, bottom } = found;
    const [x, y] = question.includes("in pixels of the image") ? [1, 1] : [1000 / width, 1000 / height];
    const sides = [left * x, top * y, right * x, bottom * y].map(Math.round) as [number, number, number, number];
    const isAlong = question.includes("a box as [left, top, right, bottom]");
    const box = isAlong ? sides : [sides[1], sides[0], sides[3], sides[2]];
    return { text: JSON.stringify({ image: index + 1, box }), usage: { input: 400, output: 30 } };
  }
  return { text: "Nothing is red." };
}

interface Found {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** At most 1,568 pixels in the longest edge, and 1,568 patches of 28 pixels. */
async function shrinkForClaude(bytes: Uint8Array): Promise<Uint8Array> {
  const { width, height } = await sharp(bytes).metadata();
  const isSmall = (across: number, down: number): boolean =>
    Math.max(across, down) <= 1568 && Math.ceil(across / 28) * Math.ceil(down / 28) <= 1568;
  let factor = 1;
  while (!isSmall(width * factor, height * factor)) factor *= 0.999;
  const [across, down] = [Math.round(width * factor), Math.round(height * factor)];
  return sharp(bytes).resize({ width: across, height: down, fit: "fill" }).png().toBuffer();
}

async function findRed(bytes: Uint8Array): Promise<Found | undefined> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const box = { left: width, top: height, right: 0, bottom: 0 };
  for (let pixel = 0; pixel < width * height; pixel++) {
    const at = pixel * 3;
    if (Number(data[at]) < 150 || Number(data[at + 1]) > 100 || Number(data[at + 2]) > 100) continue;
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    box.left = Math.min(box.left, x);
    box.top = Math.min(box.top, y);
    box.right = Math.max(box.right, x + 1);
    box.bottom = Math.max(box.bottom, y + 1);
  }
  return box.right === 0 ? undefined : { width, height, ...box };
}
