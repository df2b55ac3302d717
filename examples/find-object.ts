/**
 * Finds an object in a picture, and draws a box around it. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/find-object.ts
 *
 * A small server on this machine answers: it decodes the picture that it is sent and looks for what is red in it. With a model that
 * sees, name it:
 *
 *     KITBAG_MODEL=anthropic/claude-sonnet-4-5 npx node --conditions=@kitbag/source examples/find-object.ts
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace } from "kitbag";
import { createAgent } from "kitbag/agent";
import { resolveModel, toImagePart, type Model } from "kitbag/models";
import sharp from "sharp";
import { z } from "zod";

import { lookForRed } from "../test/support/model-server-vision.ts";
import { startModelServer } from "../test/support/model-server.ts";

const thousandths = z.int().min(0).max(1000);
const Box = z.object({ left: thousandths, top: thousandths, right: thousandths, bottom: thousandths });

/** Where something is, in thousandths of the picture's width (left, right) and height (top, bottom). */
export type Box = z.infer<typeof Box>;

/** Asks a model where an object is in a picture: a path, a URL, or bytes. */
export async function findObject(model: Model, picture: string | URL | Uint8Array, object: string): Promise<Box> {
  const agent = createAgent({ model, workspace: createWorkspace() });
  const text =
    `Where is the ${object}? Answer with the box around it as JSON: left, top, right and bottom, ` +
    "in thousandths of the width (left, right) and of the height (top, bottom) of the picture.";
  const content = [{ type: "text" as const, text }, await toImagePart(picture)];

  return agent.run([{ role: "user", content }], { output: Box }).output();
}

/** Draws a box into a picture. */
export async function drawBox(picture: Uint8Array, { left, top, right, bottom }: Box): Promise<Uint8Array> {
  const { width, height } = await sharp(picture).metadata();
  const [x, y] = [(left * width) / 1000, (top * height) / 1000];
  const [across, down] = [((right - left) * width) / 1000, ((bottom - top) * height) / 1000];
  const line = `<rect x="${x}" y="${y}" width="${across}" height="${down}" fill="none" stroke="yellow" stroke-width="4"/>`;
  const overlay = Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${line}</svg>`,
  );
  return new Uint8Array(
    await sharp(picture)
      .composite([{ input: overlay }])
      .png()
      .toBuffer(),
  );
}

/** Makes a picture with three things in it; one of them is a red ball. */
export async function drawPicture(ball: {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}): Promise<Uint8Array> {
  const shapes = [
    '<rect width="640" height="480" fill="#dfe8ef"/>',
    '<rect x="40" y="300" width="140" height="120" fill="#2a9d4b"/>',
    '<polygon points="420,60 520,200 340,190" fill="#2b5fd9"/>',
    `<circle cx="${ball.x}" cy="${ball.y}" r="${ball.radius}" fill="#e0261c"/>`,
  ];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480">${shapes.join("")}</svg>`;
  return new Uint8Array(await sharp(Buffer.from(svg)).png().toBuffer());
}

const name = process.env["KITBAG_MODEL"];
const server = name === undefined ? await startModelServer(lookForRed) : undefined;
const model =
  server === undefined
    ? await resolveModel(name ?? "")
    : await resolveModel("openai-compatible/sees-red", {
        baseUrl: server.url("openai-compatible"),
        apiKey: server.key,
      });

const picture = await drawPicture({ x: 250, y: 140, radius: 50 });
const box = await findObject(model, picture, "red ball");
const folder = await mkdtemp(join(tmpdir(), "kitbag-"));
const path = join(folder, "found.png");
await writeFile(path, await drawBox(picture, box));
console.log(`The red ball is at ${JSON.stringify(box)}, in thousandths of the picture`);
if (server === undefined) console.log(`See ${path}`);
else await Promise.all([server.close(), rm(folder, { recursive: true })]);

// The ball goes from 200 to 300 of 640 pixels, and from 90 to 190 of 480.
const truth: Box = { left: 313, top: 188, right: 469, bottom: 396 };
const tolerance = server === undefined ? 60 : 2;
for (const side of ["left", "top", "right", "bottom"] as const) {
  console.assert(Math.abs(box[side] - truth[side]) <= tolerance, `${side} is ${box[side]}, and not ${truth[side]}`);
}
