import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject } from "../../../../test/run-kitbag.ts";
import { findImages } from "./run-chat.ts";

test.for([
  ["What is in a.png?", ["a.png"]],
  ["Compare a.png, b c.JPG and a.png", ["a.png"]],
  [`Compare "b c.JPG" with 'a.png'`, ["b c.JPG", "a.png"]],
  ["sub/d.webp!", ["sub/d.webp"]],
  ["none.png notes.txt folder.png", []],
  ["", []],
] as const)("findImages() finds the pictures of %j that are there", ([text, expected]) => {
  const { folder } = createProject();
  mkdirSync(join(folder, "sub"));
  mkdirSync(join(folder, "folder.png"));
  for (const name of ["a.png", "b c.JPG", "sub/d.webp", "notes.txt"]) writeFileSync(join(folder, name), "");

  const found = findImages(text, folder);

  expect(found).toEqual(expected.map((name) => join(folder, name)));
});
