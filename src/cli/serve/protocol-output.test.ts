import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { openProtocolOutput } from "./serve-stdio.ts";

test("openProtocolOutput() writes to the stream also when its write goes elsewhere", async () => {
  const stdout = new PassThrough();
  stdout.write = () => true;

  const output = openProtocolOutput({ stdout });
  stdout.write("a tool prints");
  output.write("message\n");
  output.end(() => stdout.end());

  expect(await text(stdout)).toBe("message\n");
});

test("openProtocolOutput() waits for a reader that is slow, and loses nothing", async () => {
  const stdout = new PassThrough({ highWaterMark: 10 });
  const output = openProtocolOutput({ stdout });
  const lines = Array.from({ length: 1000 }, (_, index) => `message ${index}\n`);

  for (const line of lines) output.write(line);
  output.end(() => stdout.end());
  const isFull = output.writableLength > 0;

  expect(isFull).toBe(true);
  expect(await text(stdout)).toBe(lines.join(""));
});
