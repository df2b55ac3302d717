import { closeSync, fstatSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { createFolder } from "../../test/support/temporary-folder.ts";
import { createPipes } from "./pipes.ts";

test("openOutput() gives what is written to its descriptor, in order, and ends with it", async () => {
  const { stream, descriptor } = await createPipes(createFolder()).openOutput();
  writeSync(descriptor, "one ");
  writeSync(descriptor, "two");
  closeSync(descriptor);

  expect(await text(stream)).toBe("one two");
});

test("openOutput() gives a pipe that can be opened again by its name in /proc", async () => {
  const { stream, descriptor } = await createPipes(createFolder()).openOutput();

  const isPipe = fstatSync(descriptor).isFIFO();
  closeSync(descriptor);
  stream.destroy();

  expect(isPipe).toBe(true);
});

test("openOutput() makes as many pipes as are asked for at once", async () => {
  const pipes = createPipes(createFolder());

  const opened = await Promise.all(Array.from({ length: 100 }, () => pipes.openOutput()));
  const texts = opened.map(async ({ stream, descriptor }, index) => {
    writeSync(descriptor, String(index));
    closeSync(descriptor);
    return text(stream);
  });

  expect(await Promise.all(texts)).toEqual(opened.map((_, index) => String(index)));
});

test("openInput() gives a file that can be filled when it is already open", () => {
  const input = createPipes(createFolder()).openInput();
  const large = "é".repeat(1_000_000);
  input.fill(large);

  const read = readFileSync(input.descriptor, "utf8");
  input.close();
  closeSync(input.descriptor);

  expect(read).toBe(large);
});

test("openInput() leaves no name behind", () => {
  const directory = createFolder();
  const input = createPipes(directory).openInput();

  const names = readdirSync(directory);
  input.close();
  closeSync(input.descriptor);

  expect(names).toEqual([]);
});

test("openOutput() fails if there can be no pipes", async () => {
  await expect(createPipes("/nonexistent/kitbag").openOutput()).rejects.toThrow("mkfifo");
});

test("R2: openInput() writes nothing after it was closed, whatever file has its number by then", () => {
  const folder = createFolder();
  const input = createPipes(folder).openInput();
  closeSync(input.descriptor);
  input.close();
  const others = Array.from({ length: 20 }, (_, index) => openSync(join(folder, `other-${index}`), "w"));

  input.fill("a secret");
  input.close();

  expect(others.map((descriptor) => fstatSync(descriptor).size)).toEqual(others.map(() => 0));
  for (const descriptor of others) closeSync(descriptor);
});
