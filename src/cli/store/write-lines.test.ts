import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { Invocation } from "../cli-command.ts";
import { writeLines } from "./write-lines.ts";

test("writeLines() writes a file for its owner alone", async () => {
  const { invocation, cwd } = create();

  const result = await writeLines("out.jsonl", invocation, async (sink) => {
    for (let number = 0; number < 5000; number++) await sink(`${number} ${"x".repeat(100)}\n`);
    return "done";
  });

  const text = readFileSync(join(cwd, "out.jsonl"), "utf8");
  expect([result, text.split("\n").length, statSync(join(cwd, "out.jsonl")).mode & 0o777]).toEqual([
    "done",
    5001,
    0o600,
  ]);
});

test("writeLines() leaves nothing of a file that is not complete", async () => {
  const { invocation, cwd } = create();

  const writing = writeLines("out.jsonl", invocation, async (sink) => {
    await sink("one\n");
    throw new Error("out of luck");
  });

  await expect(writing).rejects.toThrow("out of luck");
  expect(readdirSync(cwd)).toEqual([]);
});

test("writeLines() writes over nothing, and makes no folder", async () => {
  const { invocation, cwd } = create({ "there.txt": "kept" });

  await expect(writeLines("there.txt", invocation, async () => {})).rejects.toThrow("there is something already");
  await expect(writeLines("no/such/file", invocation, async () => {})).rejects.toThrow("Cannot write");
  expect([readFileSync(join(cwd, "there.txt"), "utf8"), existsSync(join(cwd, "no"))]).toEqual(["kept", false]);
});

test("writeLines() prints without a file, but not beside one JSON document", async () => {
  const { invocation, printed } = create();

  await writeLines(undefined, invocation, async (sink) => {
    for (let number = 0; number < 300; number++) await sink("line\n");
  });

  expect(printed).toHaveLength(300);
  await expect(writeLines(undefined, { ...invocation, json: true }, async () => {})).rejects.toThrow("name a file");
});

function create(files: Record<string, string> = {}): { invocation: Invocation; cwd: string; printed: string[] } {
  const cwd = createFolder(files);
  const printed: string[] = [];
  const terminal = {
    print: (text: string) => void printed.push(text),
    toShown: (text: string) => text,
    flush: () => Promise.resolve(),
  };
  return { cwd, printed, invocation: { cwd, json: false, terminal } as unknown as Invocation };
}
