import sharp from "sharp";
import { expect, test } from "vitest";

import { makeImage } from "../../../test/support/make-image.ts";
import { describePlaces, type PlaceOptions, toOriginalBox, toOriginalPoint, type SeeingModel } from "./places.ts";

const gemini: SeeingModel = { provider: "google.generative-ai", modelId: "gemini-3.8-flash", supportedUrls: {} };
const claude: SeeingModel = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5", supportedUrls: {} };
const gpt: SeeingModel = { provider: "openai.responses", modelId: "gpt-6-sol", supportedUrls: {} };
const qwen: SeeingModel = { provider: "ollama.chat", modelId: "qwen2.5vl:7b", supportedUrls: {} };
const size = { width: 4000, height: 2000 };

test.for([
  ["Gemini's thousandths, y first", gemini, [100, 250, 500, 750], {}],
  ["Gemini of another provider", { ...gemini, provider: "openrouter.chat" }, [100, 250, 500, 750], {}],
  ["thousandths, x first", gpt, [250, 100, 750, 500], {}],
  ["0 to 1", gpt, [0.25, 0.1, 0.75, 0.5], { scale: "unit" }],
  ["corners in the other order", gpt, [750, 500, 250, 100], {}],
  ["pixels", gpt, [1000, 200, 3000, 1000], { scale: "pixels" }],
  // Claude sees it with 1,568 pixels in the longest edge.
  ["pixels of what Claude sees", claude, [392, 78.4, 1176, 392], {}],
  ["pixels of what Claude sees at another provider", { ...claude, provider: "bedrock" }, [392, 78.4, 1176, 392], {}],
  ["pixels of what a later Claude sees", { ...claude, modelId: "claude-opus-5-5" }, [644, 128.8, 1932, 644], {}],
  ["pixels of Qwen 2.5 VL", qwen, [1000, 200, 3000, 1000], {}],
] as readonly [string, SeeingModel, number[], PlaceOptions][])(
  "toOriginalBox() maps %s to pixels of the original",
  async ([, model, box, options]) => {
    expect(await toOriginalBox(model, size, box, options)).toEqual({ left: 1000, top: 200, right: 3000, bottom: 1000 });
  },
);

test("toOriginalPoint() maps a point", async () => {
  expect(await toOriginalPoint(gemini, size, [500, 250])).toEqual({ x: 1000, y: 1000 });
  expect(await toOriginalPoint(claude, size, [784, 392])).toEqual({ x: 2000, y: 1000 });
});

test("toOriginalBox() knows that Claude sees a tall page smaller than its longest edge allows", async () => {
  // 1,176 pixels are 42 patches of 28, and 1,568 are 56: more than there may be.
  const page = { width: 1700, height: 2200 };
  const whole = await toOriginalPoint(claude, page, [0, 0]);

  const edge = 1568;
  await expect(toOriginalPoint(claude, page, [10, edge])).rejects.toMatchObject({ code: "option-invalid" });
  expect(whole).toEqual({ x: 0, y: 0 });
});

test("toOriginalBox() knows how a picture is made smaller before it is sent", async () => {
  const bytes = await makeImage("png", { width: 3000, height: 1500 });
  const later = { ...claude, modelId: "claude-opus-5-5" };

  const boxes = [
    await toOriginalBox(later, bytes, [0, 0, 2576, 1288]),
    await toOriginalBox(later, bytes, [0, 0, 2000, 1000], { imageCount: 21 }),
  ];

  const whole = { left: 0, top: 0, right: 3000, bottom: 1500 };
  expect(boxes).toEqual([whole, whole]);
});

test("toOriginalBox() means the picture as it is looked at, if a camera marked it as turned", async () => {
  const photo = sharp(await makeImage("jpeg", { width: 2400, height: 1200 })).withMetadata({ orientation: 6 });
  const files = [await photo.jpeg().toBuffer(), await photo.tiff().toBuffer()];

  for (const bytes of files) {
    const box = await toOriginalBox(gpt, new Uint8Array(bytes), [0, 0, 1000, 1000], { imageCount: 21 });
    const turned = await toOriginalBox(claude, new Uint8Array(bytes), [0, 0, 784, 1568], { imageCount: 21 });

    expect(turned).toEqual({ left: 0, top: 0, right: 1200, bottom: 2400 });
    expect(Math.min(box.right, box.bottom) * 2).toBe(Math.max(box.right, box.bottom));
  }
});

test("toOriginalPoint() takes what is a little outside as the edge", async () => {
  expect(await toOriginalPoint(gemini, size, [-8, 1012])).toEqual({ x: 4000, y: 0 });
});

test.for([
  [gemini, [1, 2, 3]],
  [gemini, [1, 2, 3, 1316]],
  [gemini, [1, 2, 3, -100]],
  [gemini, [1, 2, 3, Number.NaN]],
  [gemini, [1, 2, 3, "4"]],
  [gemini, "1,2,3,4"],
  [gpt, [10, 20, 30, 40], { scale: "unit" }],
  [claude, [0, 0, 4000, 2000]],
] as readonly [SeeingModel, number[], PlaceOptions?][])(
  "toOriginalBox() refuses what is in another form: %j",
  async ([model, box, options]) => {
    await expect(toOriginalBox(model, size, box, options)).rejects.toMatchObject({ code: "option-invalid" });
  },
);

test("toOriginalBox() needs the size of a picture on the web that a provider downloads itself", async () => {
  const model = { ...gpt, supportedUrls: { "image/*": [/^https:/u] } };

  await expect(toOriginalBox(model, "https://example.com/a.png", [0, 0, 1, 1])).rejects.toMatchObject({
    code: "image-invalid",
  });
});

test.for([
  [gemini, "Give a box as [top, left, bottom, right] and a point as [y, x], as whole numbers from 0 to 1000"],
  [claude, "Give a box as [left, top, right, bottom] and a point as [x, y], in pixels of the image."],
  [gpt, "Give a box as [left, top, right, bottom] and a point as [x, y], as whole numbers from 0 to 1000"],
] as const)("describePlaces() asks for the form that the model knows best: $0.modelId", ([model, text]) => {
  expect(describePlaces(model)).toContain(text);
});
