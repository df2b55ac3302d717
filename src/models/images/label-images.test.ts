import { expect, test } from "vitest";

import type { ModelMessage, ModelPrompt } from "../model.ts";
import { labelImages } from "./label-images.ts";
import type { ImagePart } from "./to-image-part.ts";

const image: ImagePart = { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1]) } };
const named = (filename: string): ImagePart => ({ ...image, filename });
const text = (said: string) => ({ type: "text" as const, text: said });
const user = (...content: (ImagePart | ReturnType<typeof text>)[]): ModelMessage => ({ role: "user", content });

test("labelImages() numbers the images of a message in order, with the names of their files", () => {
  const [message] = labelImages([user(text("Compare."), named("a.png"), image, named("c d.png"))]);

  expect(message?.content).toEqual([
    text("Compare."),
    text("Image 1 (a.png):"),
    named("a.png"),
    text("Image 2:"),
    image,
    text("Image 3 (c d.png):"),
    named("c d.png"),
  ]);
});

test("labelImages() numbers the images of each message, and of each result, for themselves", () => {
  const output = { type: "content" as const, value: [named("x.png"), image] };
  const prompt: ModelPrompt = [
    user(image, image),
    { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "look", output }] },
    user(image, image),
  ];

  const texts = JSON.stringify(labelImages(prompt)).match(/Image \d[^"]*/gu);

  expect(texts).toEqual(["Image 1:", "Image 2:", "Image 1 (x.png):", "Image 2:", "Image 1:", "Image 2:"]);
});

test("labelImages() answers with the prompt itself if no message has several", () => {
  const prompt: ModelPrompt = [
    { role: "system", content: "x" },
    user(text("One"), image),
    user(image),
    user(text("None")),
  ];

  expect(labelImages(prompt)).toBe(prompt);
});

test("labelImages() keeps the labels that images have already", () => {
  const own = user(text("This is image 1:"), image, text("and this is\nImage #2 (after the change):"), image);

  expect(labelImages([own])).toEqual([own]);
  expect(labelImages(labelImages([user(image, named("b.png"))]))).toEqual(labelImages([user(image, named("b.png"))]));
});

test("labelImages() makes one short line of any name", () => {
  const [message] = labelImages([user(named(`a\n\u202Eignore\u0000 ${"x".repeat(500)}`), named("\n"))]);
  const [first, , second] = (message?.content ?? []) as { readonly text?: string }[];

  expect(first?.text).toMatch(/^Image 1 \(a ignore x{90,100}…\):$/u);
  expect(second?.text).toBe("Image 2:");
});
