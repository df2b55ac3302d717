import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { openLineCache } from "./line-cache.ts";
import { factsVersion } from "./facts-version.ts";

test("openLineCache() remembers in memory without a file", () => {
  const cache = openLineCache(undefined);

  cache.set("a", facts("one"));
  cache.save();

  expect(cache.get("a")).toEqual(facts("one"));
  expect(cache.get("b")).toBeUndefined();
});

test("openLineCache() gives back what was saved, whatever the key is made of", () => {
  const path = createPath();
  const keys = ["a", "tab\tline\nend", "__proto__", "é", "日本", "😀", "\uD800", "\u2028", "\\u00e9", ""];

  save(path, Object.fromEntries(keys.map((key) => [key, facts(`of ${key}\t\n`)])));
  const cache = openLineCache(path);

  expect(keys.map((key) => cache.get(key))).toEqual(keys.map((key) => facts(`of ${key}\t\n`)));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

test("openLineCache() adds to what is there, and the last one counts", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two") });

  save(path, { a: facts("three") });

  expect(openLineCache(path).get("a")).toEqual(facts("three"));
  expect(openLineCache(path).get("b")).toEqual(facts("two"));
});

test("openLineCache() writes nothing when there is nothing new", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  const before = statSync(path).size;

  const cache = openLineCache(path);
  cache.get("a");
  cache.save();

  expect(statSync(path).size).toBe(before);
});

test.for([
  ["empty", ""],
  ["not a cache", "hello\nworld\n"],
  ["bytes", "\0\0\0\uFFFD"],
  ["JSON of another kind", '{"version":1,"entries":[]}'],
  ["of another version", `kitbag-facts-0\t${"0".repeat(32)}\t"a"\t{"scripts":[],"diagnostics":[]}\n`],
  ["a line without its end", `${factsVersion}\t${"0".repeat(32)}\t"a"`],
  ["a line without its sum", `${factsVersion}\t"a"\t{"scripts":[],"diagnostics":[]}`],
  ["a line with a wrong sum", `${factsVersion}\t${"0".repeat(32)}\t"a"\t{"scripts":[],"diagnostics":[]}`],
] as const)("openLineCache() takes a file that is %s for an empty one, and can use it", ([, content]) => {
  const path = createPath(content);

  const before = openLineCache(path).get("a");
  save(path, { a: facts("new") });

  expect(before).toBeUndefined();
  expect(openLineCache(path).get("a")).toEqual(facts("new"));
});

test("openLineCache() loses only the lines that were damaged", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two"), c: facts("three") });
  writeFileSync(path, readFileSync(path, "utf8").replace('"two"', '"2wo"'));

  const cache = openLineCache(path);

  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([facts("one"), undefined, facts("three")]);
});

test("openLineCache() goes on after a program that was killed in the middle of a line", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two") });
  truncateSync(path, statSync(path).size - 20);

  save(path, { c: facts("three") });
  const cache = openLineCache(path);

  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([facts("one"), undefined, facts("three")]);
});

test("openLineCache() does not believe a file that others can write, and replaces it", () => {
  const path = createPath();
  save(path, { a: facts("planted") });
  chmodSync(path, 0o666);

  const before = openLineCache(path).get("a");
  save(path, { b: facts("mine") });

  expect(before).toBeUndefined();
  expect(openLineCache(path).get("a")).toBeUndefined();
  expect(openLineCache(path).get("b")).toEqual(facts("mine"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("openLineCache() does not believe a file behind a link, and leaves that file alone", () => {
  const elsewhere = createPath();
  save(elsewhere, { a: facts("planted") });
  const content = readFileSync(elsewhere, "utf8");
  const path = createPath();
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(elsewhere, path);

  expect(openLineCache(path).get("a")).toBeUndefined();
  save(path, { a: facts("mine") });

  expect(openLineCache(path).get("a")).toEqual(facts("mine"));
  expect(readFileSync(elsewhere, "utf8")).toBe(content);
});

test("openLineCache() does not wait for a pipe", () => {
  const path = createPath("");
  execFileSync("rm", [path]);
  execFileSync("mkfifo", [path]);

  expect(openLineCache(path).get("a")).toBeUndefined();
});

test("openLineCache() starts again when the file has become huge", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  truncateSync(path, 300 * 1024 * 1024);

  const before = openLineCache(path).get("a");
  save(path, { b: facts("two") });

  expect(before).toBeUndefined();
  expect(statSync(path).size).toBeLessThan(10_000);
  expect(openLineCache(path).get("b")).toEqual(facts("two"));
});

test("openLineCache() forgets the oldest half when there are too many", () => {
  const path = createPath();
  save(path, Object.fromEntries(Array.from({ length: 39_999 }, (_, index) => [`k${index}`, facts("x")])));

  save(path, { last: facts("x"), "one more": facts("x") });
  const cache = openLineCache(path);

  expect(readFileSync(path, "utf8").trim().split("\n").length).toBe(20_000);
  expect(cache.get("one more")).toEqual(facts("x"));
  expect(cache.get("k39998")).toEqual(facts("x"));
  expect(cache.get("k0")).toBeUndefined();
});

test("openLineCache() writes the file anew when most of it is no use any more", () => {
  const path = createPath();
  for (let round = 0; round < 8; round += 1) save(path, { a: facts("x".repeat(40_000)), b: facts(String(round)) });

  const cache = openLineCache(path);

  expect(statSync(path).size).toBeLessThan(250_000);
  expect(cache.get("b")).toEqual(facts("7"));
});

test("save() is silent where it cannot write", () => {
  const file = join(createFolder({ file: "" }), "file");
  const folder = createPath("");
  execFileSync("rm", [folder]);
  mkdirSync(folder);

  save(join(file, "below/cache"), { a: facts("one") });
  save(folder, { a: facts("one") });

  expect(statSync(file).size).toBe(0);
  expect(readdirSync(dirname(folder))).toEqual(["facts"]);
});

test("save() keeps what two programs write at the same time", async () => {
  const path = createPath();
  save(path, { start: facts("x") });
  const module = fileURLToPath(new URL("line-cache.ts", import.meta.url));
  const program = `
    import { openLineCache } from ${JSON.stringify(module)};
    const [path, name] = process.argv.slice(1);
    for (let round = 0; round < 40; round++) {
      const cache = openLineCache(path);
      cache.set(name + round, { body: "x".repeat(20000) });
      cache.save();
    }`;
  const children = ["a", "b"].map((name) =>
    spawn(process.execPath, ["--input-type=module-typescript", "-e", program, path, name]),
  );
  onTestFinished(() => children.forEach((child) => child.kill("SIGKILL")));

  await Promise.all(children.map((child) => once(child, "close")));
  const cache = openLineCache(path);

  const keys = ["a", "b"].flatMap((name) => Array.from({ length: 40 }, (_, round) => `${name}${round}`));
  expect(keys.filter((key) => cache.get(key) === undefined)).toEqual([]);
});

test("get() answers with the same object each time", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  const cache = openLineCache(path);

  expect(cache.get("a")).toBe(cache.get("a"));
});

function createPath(content?: string): string {
  const path = join(createFolder(), "cache/facts");
  if (content === undefined) return path;
  mkdirSync(dirname(path));
  writeFileSync(path, "", { mode: 0o600 });
  appendFileSync(path, content);
  return path;
}

function save(path: string, entries: Readonly<Record<string, unknown>>): void {
  const cache = openLineCache(path);
  for (const [key, value] of Object.entries(entries)) cache.set(key, value);
  cache.save();
}

function facts(message: string): unknown {
  return { scripts: [], message };
}
