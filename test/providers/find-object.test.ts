import sharp from "sharp";
import { expect, test } from "vitest";

import { drawBox, drawPicture, findObject } from "../../examples/find-object.ts";
import { lookForRed } from "../support/model-server-vision.ts";
import { providers, resolveProvider } from "./providers.ts";

test.for(providers)("findObject() finds what is in the picture, wherever it is, with $name", async (provider) => {
  const { model } = await resolveProvider(provider, lookForRed);
  const ball = { x: 480, y: 360, radius: 40 };

  const box = await findObject(model, await drawPicture(ball), "red ball");

  expect(toPixels(box)).toEqual({ left: 440, top: 320, right: 520, bottom: 400 });
});

test("findObject() fails if there is no such thing in the picture", async () => {
  const { model } = await resolveProvider(providers[0]!, lookForRed);

  const box = findObject(model, await drawPicture({ x: -100, y: -100, radius: 10 }), "red ball");

  await expect(box).rejects.toThrow();
});

test("drawBox() draws the four sides, and leaves the inside as it was", async () => {
  const picture = await drawPicture({ x: 320, y: 240, radius: 48 });

  const drawn = await drawBox(picture, { left: 425, top: 400, right: 575, bottom: 600 });

  const colorAt = await readColors(drawn);
  const yellow = [255, 255, 0];
  expect([colorAt(272, 240), colorAt(368, 240), colorAt(320, 192), colorAt(320, 288)]).toEqual([
    yellow,
    yellow,
    yellow,
    yellow,
  ]);
  expect(colorAt(320, 240)).toEqual([0xe0, 0x26, 0x1c]);
});

function toPixels({ left, top, right, bottom }: { left: number; top: number; right: number; bottom: number }): object {
  const [x, y] = [(side: number) => Math.round(side * 0.64), (side: number) => Math.round(side * 0.48)];
  return { left: x(left), top: y(top), right: x(right), bottom: y(bottom) };
}

async function readColors(bytes: Uint8Array): Promise<(x: number, y: number) => number[]> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return (x, y) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)];
}
