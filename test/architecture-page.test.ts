import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { rows } from "../layers.ts";

const root = resolve(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

/** A file with its ending, or a folder with its slash. `tools/call` and `kitbag/testing` are neither. */
const pathForm = /^[a-z][\w.-]*(?:\/[\w.-]+)*(?:\/|\.(?:[cm]?[jt]s|json|md|py))$/u;

/** What skill folders and projects hold, and Kitbag reads. */
const foreign = new Set(["skill.ts", "kitbag.config.ts", "manifest.json"]);

test("docs/architecture.md names only files and folders that exist", () => {
  const paths = findPaths(page);

  const missing = paths.filter((path) => findPlace(path) === undefined);

  expect(paths.length).toBeGreaterThan(200);
  expect(missing).toEqual([]);
});

test("docs/architecture.md names only functions, types and tables that are in their file", () => {
  const named = findNames(page);

  const wrong = named.filter(({ name, path }) => !hasName(path, name)).map(({ name, path }) => `${name} of ${path}`);

  expect(named.length).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
});

test("docs/, README.md and CONTRIBUTING.md name no file of src/ that is gone", () => {
  // The `src/` of this guide is that of a skill.
  const exclude = ["docs/guide/build-a-wasm-tool.md"];
  const pages = globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md"], { cwd: root, exclude });

  const gone = pages.flatMap((name) => {
    const named = readFileSync(join(root, name), "utf8").matchAll(/(?<![\w./-])src\/[\w./-]*\w/gu);
    return [...named].filter(([path]) => !existsSync(join(root, path))).map(([path]) => `${name}: ${path}`);
  });

  expect(pages.length).toBeGreaterThan(30);
  expect(gone).toEqual([]);
});

test("the map of docs/architecture.md has the folders of src/ in the rows of layers.ts", () => {
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const known = new Set(folders.map(({ name }) => name));

  const shown = [...page.matchAll(/^ ?(\d+) {3}([a-z]+)\/ /gmu)].map(([, row, name]) => `${row} ${name}`);

  const expected = rows.flatMap((names, index) =>
    names.filter((name) => known.has(name)).map((name) => `${index + 1} ${name}`),
  );
  expect(shown.toSorted()).toEqual(expected.toSorted());
});

/** What is written as code and looks like a path: between backticks, or in a block of text. */
function findPaths(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```text\n(.*?)^```/gmsu)].map(([, block = ""]) => block);
  const spans = [...withoutBlocks(text).matchAll(/`([^`\n]+)`/gu)].map(([, span = ""]) => span);
  const words = [...blocks, ...spans].flatMap((part) => part.split(/[\s()`,;:]+/u));
  return [...new Set(words.filter((word) => pathForm.test(word) && !foreign.has(word)))];
}

/** `name` of `file`, `name` in `file`, and the function at the head of a line behind its file. */
function findNames(text: string): readonly { readonly name: string; readonly path: string }[] {
  const prose = withoutBlocks(text).matchAll(/`(\w+)`\s+(?:of|in)\s+`([\w./-]+\.ts)`/gu);
  const lines = text.matchAll(/^ *([\w./-]+\.ts) +(\w+)\(\)[:,]/gmu);
  return [
    ...[...prose].map(([, name = "", path = ""]) => ({ name, path })),
    ...[...lines].map(([, path = "", name = ""]) => ({ name, path })),
  ];
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^```.*?^```/gmsu, "");
}

function hasName(path: string, name: string): boolean {
  const file = findPlace(path);
  return file !== undefined && new RegExp(`\\b${name}\\b`, "u").test(readFileSync(file, "utf8"));
}

/** Paths are relative to `src/`, or to the root. */
function findPlace(path: string): string | undefined {
  return [join(root, "src", path), join(root, path)].find((place) => existsSync(place));
}
