import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject } from "../../../../test/run-kitbag.ts";
import { openChatHistory } from "./keyboard.ts";

test("openChatHistory() has the newest line first, also those of the last time", () => {
  const { home } = createProject();
  openChatHistory(home).add("first");

  const history = openChatHistory(home);
  history.add("two\nlines");
  history.add("two\nlines");

  expect(history.lines()).toEqual(["two␤lines", "first"]);
  expect(openChatHistory(home).lines()).toEqual(["two␤lines", "first"]);
});

test("openChatHistory() keeps its file from others, also one that they could read", () => {
  const { home, folder } = createProject();
  openChatHistory(home).add("first");
  const file = join(home, "chat-history");
  chmodSync(file, 0o644);

  openChatHistory(home).add("second");

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(folder).not.toBe(home);
});

test("openChatHistory() forgets the oldest of more than a thousand lines", () => {
  const { home } = createProject();
  openChatHistory(home).add("0");
  const file = join(home, "chat-history");
  writeFileSync(file, Array.from({ length: 1000 }, (_, index) => `line ${index}\n`).join(""));

  openChatHistory(home).add("the last");

  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(500);
  expect(lines.at(-1)).toBe("the last");
});

test("openChatHistory() lasts as long as the program where nothing can be written", () => {
  const { folder } = createProject({ file: "" });

  const history = openChatHistory(join(folder, "file"));
  history.add("said");

  expect(history.lines()).toEqual(["said"]);
});
