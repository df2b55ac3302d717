import sharp from "sharp";
import { expect, test } from "vitest";

import { drawBox, drawPicture, findObject } from "../../examples/find-object.ts";
import { lookForRed } from "../support/model-server-vision.ts";
import { providers, resolveProvider } from "./providers.ts";

test.for(providers)(
  "findObject() finds in which of three pictures a ball is, and where, with $name",
  async (provider) => {
    const { model } = await resolveProvider(provider, lookForRed);
    const ball = { x: 480, y: 360, radius: 40 };
    // Larger than Claude sees a picture.
    const pictures = {
      "a.png": await drawPicture(),
      "b.png": await drawPicture(undefined, 2),
      "c.png": await drawPicture(ball, 4),
    };

    const { name, box } = await findObject(model, pictures, "red ball");

    expect(name).toBe("c.png");
    const sides = [box.left / 4, box.top / 4, box.right / 4, box.bottom / 4].map((side) => Math.round(side / 4) * 4);
    expect(sides).toEqual([440, 320, 520, 400]);
  },
);

test("findObject() finds what is in one picture", async () => {
  const { model } = await resolveProvider(providers[0]!, lookForRed);

  const { box } = await findObject(model, { "a.png": await drawPicture({ x: 480, y: 360, radius: 40 }) }, "red ball");

  expect([box.left, box.top, box.right, box.bottom].map((side) => Math.round(side / 2) * 2)).toEqual([
    440, 320, 520, 400,
  ]);
});

test("findObject() fails if there is no such thing in the pictures", async () => {
  const { model } = await resolveProvider(providers[0]!, lookForRed);

  const found = findObject(model, { "a.png": await drawPicture() }, "red ball");

  await expect(found).rejects.toThrow();
});

test("drawBox() draws the four sides, and leaves the inside as it was", async () => {
  const picture = await drawPicture({ x: 320, y: 240, radius: 48 });

  const drawn = await drawBox(picture, { left: 272, top: 192, right: 368, bottom: 288 });

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

async function readColors(bytes: Uint8Array): Promise<(x: number, y: number) => number[]> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return (x, y) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)];
}
