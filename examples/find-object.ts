/**
 * Finds an object in several pictures, and draws a box around it. After `npm install`:
 *
 *     npx node --conditions=@kitbag/source examples/find-object.ts
 *
 * A small server on this machine answers: it decodes the pictures that it is sent and looks for what is red in them. With a model that
 * sees, name it:
 *
 *     KITBAG_MODEL=anthropic/claude-sonnet-4-5 npx node --conditions=@kitbag/source examples/find-object.ts
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace } from "kitbag";
import { createAgent } from "kitbag/agent";
import { describePlaces, resolveModel, toOriginalBox, type ImageBox, type Model } from "kitbag/models";
import sharp from "sharp";
import { z } from "zod";

import { lookForRed } from "../test/support/model-server-vision.ts";
import { startModelServer } from "../test/support/model-server.ts";

const Answer = z.object({ image: z.int(), box: z.array(z.number()) });

/** Where something is: the name of the picture, and the box around it in pixels of that picture. */
export interface Place {
  readonly name: string;
  readonly box: ImageBox;
}

/** Asks a model in which of some pictures an object is, and where. The pictures have names, by which users can speak of them. */
export async function findObject(
  model: Model,
  pictures: Readonly<Record<string, string | Uint8Array>>,
  object: string,
): Promise<Place> {
  const agent = createAgent({ model, workspace: createWorkspace() });
  const images = Object.entries(pictures).map(([name, image]) => ({ name, image }));
  // Each model says places in the form that it knows best. Which form that is, and how large it saw a picture, Kitbag knows.
  const form = describePlaces(model);
  const question = `In which image is the ${object}, and where? Answer as JSON: its number (image) and its box. ${form}`;

  const answer = await agent.run(question, { images, output: Answer }).output();

  const found = images[images.length === 1 ? 0 : answer.image - 1];
  if (found === undefined) throw new Error(`There is no image ${answer.image}`);
  const box = await toOriginalBox(model, found.image, answer.box, { imageCount: images.length });
  return { name: found.name, box };
}

/** Draws a box into a picture. */
export async function drawBox(picture: Uint8Array, { left, top, right, bottom }: ImageBox): Promise<Uint8Array> {
  const { width, height } = await sharp(picture).metadata();
  const size = `width="${right - left}" height="${bottom - top}"`;
  const line = `<rect x="${left}" y="${top}" ${size} fill="none" stroke="yellow" stroke-width="4"/>`;
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

/** A red ball in a picture. */
export interface Ball {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Makes a picture with two things in it, and a red ball if one is given. */
export async function drawPicture(ball?: Ball, scale = 1): Promise<Uint8Array> {
  const shapes = [
    '<rect width="640" height="480" fill="#dfe8ef"/>',
    '<rect x="40" y="300" width="140" height="120" fill="#2a9d4b"/>',
    '<polygon points="420,60 520,200 340,190" fill="#2b5fd9"/>',
    ...(ball === undefined ? [] : [`<circle cx="${ball.x}" cy="${ball.y}" r="${ball.radius}" fill="#e0261c"/>`]),
  ];
  const size = `width="${640 * scale}" height="${480 * scale}" viewBox="0 0 640 480"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${shapes.join("")}</svg>`;
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

// The ball goes from 200 to 300 of 640 pixels, and from 90 to 190 of 480; the picture is four times as large.
const garden = await drawPicture({ x: 250, y: 140, radius: 50 }, 4);
const pictures = { "kitchen.png": await drawPicture(), "garden.png": garden, "street.png": await drawPicture() };
const { name: picture, box } = await findObject(model, pictures, "red ball");
const folder = await mkdtemp(join(tmpdir(), "kitbag-"));
const path = join(folder, "found.png");
await writeFile(path, await drawBox(garden, box));
console.log(`The red ball is in ${picture}, at ${JSON.stringify(box)}, in pixels of the picture`);
if (server === undefined) console.log(`See ${path}`);
else await Promise.all([server.close(), rm(folder, { recursive: true })]);

console.assert(picture === "garden.png", `the ball is in garden.png, and not in ${picture}`);
const truth: ImageBox = { left: 800, top: 360, right: 1200, bottom: 760 };
const tolerance = server === undefined ? 160 : 8;
for (const side of ["left", "top", "right", "bottom"] as const) {
  console.assert(Math.abs(box[side] - truth[side]) <= tolerance, `${side} is ${box[side]}, and not ${truth[side]}`);
}
