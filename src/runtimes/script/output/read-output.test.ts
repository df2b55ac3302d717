import { closeSync, mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createPipes, type OutputPipe } from "../../../sandbox/pipes.ts";
import { readOutput, type ReadOptions } from "./read-output.ts";

test("readOutput() reads what is in the pipe although the process was too busy to look", async () => {
  const { stream, descriptor } = await openPipe();
  writeSync(descriptor, "printed just before the end");
  const output = readOutput(stream, options);

  const settled = output.settle();
  block(500);
  await settled;
  closeSync(descriptor);

  expect(output.text()).toBe("printed just before the end");
});

test("readOutput() stops waiting for somebody who holds the pipe open", async () => {
  const { stream, descriptor } = await openPipe();
  const output = readOutput(stream, options);
  const before = performance.now();

  await output.settle();
  closeSync(descriptor);

  expect(performance.now() - before).toBeGreaterThan(100);
  expect(stream.destroyed).toBe(true);
});

test("readOutput() goes on while something comes", async () => {
  const { stream, descriptor } = await openPipe();
  const output = readOutput(stream, options);
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    writeSync(descriptor, "x");
    if (count < 20) return;
    clearInterval(timer);
    closeSync(descriptor);
  }, 20);

  await output.settle();

  expect(output.text()).toBe("x".repeat(20));
});

test("readOutput() keeps at least the last bytes it was asked for, and not much more", async () => {
  const { stream, descriptor } = await openPipe();
  const output = readOutput(stream, { ...options, keptBytes: 10 });
  for (const piece of ["a".repeat(100), "b".repeat(8), "c".repeat(8)]) {
    writeSync(descriptor, piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  closeSync(descriptor);

  await output.ended;

  expect(output.text()).toBe(`${"b".repeat(8)}${"c".repeat(8)}`);
});

const options: ReadOptions = { keptBytes: 1000, maxBytes: 1000, onFlood: () => {} };

async function openPipe(): Promise<OutputPipe> {
  const directory = mkdtempSync(join(tmpdir(), "kitbag-pipes-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return createPipes(directory).openOutput();
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
