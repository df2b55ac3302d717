import { expect, test } from "vitest";

import { createFrameReader, toFrame } from "./frames.ts";

test("createFrameReader() reads what toFrame() wrote, however it was cut", () => {
  const bytes = Buffer.concat([
    toFrame({ type: "one", text: "ä" }, Buffer.from("payload")),
    toFrame({ type: "two" }),
    toFrame({ type: "three" }, new Uint8Array(100_000).fill(7)),
  ]);

  for (const size of [1, 2, 7, 1000, bytes.length]) {
    const read = createFrameReader<{ type: string }>(200_000);
    const frames = [];
    for (let start = 0; start < bytes.length; start += size) frames.push(...read(bytes.subarray(start, start + size)));

    expect(frames.map(({ header }) => header.type)).toEqual(["one", "two", "three"]);
    expect(frames.map(({ payload }) => payload.length)).toEqual([7, 0, 100_000]);
  }
});

test("createFrameReader() gives payloads with memory of their own", () => {
  const bytes = toFrame({}, Buffer.from("payload"));

  const [frame] = createFrameReader(1000)(bytes);
  bytes.fill(0);

  expect(Buffer.from(frame?.payload ?? []).toString()).toBe("payload");
  expect(frame?.payload.buffer.byteLength).toBe(7);
});

test("createFrameReader() refuses a frame that says it is larger than allowed, before it is there", () => {
  const read = createFrameReader(1000);

  expect(() => read(toFrame({}, new Uint8Array(2000)).subarray(0, 8))).toThrow("larger than 1000");
});

test("createFrameReader() refuses a header that is not JSON", () => {
  const frame = toFrame({});
  frame[8] = 0x21;

  expect(() => createFrameReader(1000)(frame)).toThrow(SyntaxError);
});
