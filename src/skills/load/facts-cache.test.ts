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
import { openFactsCache } from "./facts-cache.ts";
import { factsVersion } from "./facts-version.ts";
import type { SkillFacts } from "./skill-facts.ts";

test("openFactsCache() remembers in memory without a file", () => {
  const cache = openFactsCache(undefined);

  cache.set("a", facts("one"));
  cache.save();

  expect(cache.get("a")).toEqual(facts("one"));
  expect(cache.get("b")).toBeUndefined();
});

test("openFactsCache() gives back what was saved, whatever the key is made of", () => {
  const path = createPath();
  const keys = ["a", "tab\tline\nend", "__proto__", "日本", ""];

  save(path, Object.fromEntries(keys.map((key) => [key, facts(`of ${key}\t\n`)])));
  const cache = openFactsCache(path);

  expect(keys.map((key) => cache.get(key))).toEqual(keys.map((key) => facts(`of ${key}\t\n`)));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

test("openFactsCache() adds to what is there, and the last one counts", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two") });

  save(path, { a: facts("three") });

  expect(openFactsCache(path).get("a")).toEqual(facts("three"));
  expect(openFactsCache(path).get("b")).toEqual(facts("two"));
});

test("openFactsCache() writes nothing when there is nothing new", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  const before = statSync(path).size;

  const cache = openFactsCache(path);
  cache.get("a");
  cache.save();

  expect(statSync(path).size).toBe(before);
});

test.for([
  ["empty", ""],
  ["not a cache", "hello\nworld\n"],
  ["bytes", "\0\0\0\uFFFD"],
  ["JSON of another kind", '{"version":1,"entries":[]}'],
  ["of another version", 'kitbag-facts-0\t"a"\t00\t{"scripts":[],"diagnostics":[]}\n'],
  ["a line without its end", `${factsVersion}\t"a"`],
  ["a line with a wrong sum", `${factsVersion}\t"a"\t${"0".repeat(32)}\t{"scripts":[],"diagnostics":[]}`],
] as const)("openFactsCache() takes a file that is %s for an empty one, and can use it", ([, content]) => {
  const path = createPath(content);

  const before = openFactsCache(path).get("a");
  save(path, { a: facts("new") });

  expect(before).toBeUndefined();
  expect(openFactsCache(path).get("a")).toEqual(facts("new"));
});

test("openFactsCache() loses only the lines that were damaged", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two"), c: facts("three") });
  writeFileSync(path, readFileSync(path, "utf8").replace('"two"', '"2wo"'));

  const cache = openFactsCache(path);

  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([facts("one"), undefined, facts("three")]);
});

test("openFactsCache() goes on after a program that was killed in the middle of a line", () => {
  const path = createPath();
  save(path, { a: facts("one"), b: facts("two") });
  truncateSync(path, statSync(path).size - 20);

  save(path, { c: facts("three") });
  const cache = openFactsCache(path);

  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([facts("one"), undefined, facts("three")]);
});

test("openFactsCache() does not believe a file that others can write, and replaces it", () => {
  const path = createPath();
  save(path, { a: facts("planted") });
  chmodSync(path, 0o666);

  const before = openFactsCache(path).get("a");
  save(path, { b: facts("mine") });

  expect(before).toBeUndefined();
  expect(openFactsCache(path).get("a")).toBeUndefined();
  expect(openFactsCache(path).get("b")).toEqual(facts("mine"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("openFactsCache() does not believe a file behind a link, and leaves that file alone", () => {
  const elsewhere = createPath();
  save(elsewhere, { a: facts("planted") });
  const content = readFileSync(elsewhere, "utf8");
  const path = createPath();
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(elsewhere, path);

  expect(openFactsCache(path).get("a")).toBeUndefined();
  save(path, { a: facts("mine") });

  expect(openFactsCache(path).get("a")).toEqual(facts("mine"));
  expect(readFileSync(elsewhere, "utf8")).toBe(content);
});

test("openFactsCache() does not wait for a pipe", () => {
  const path = createPath("");
  execFileSync("rm", [path]);
  execFileSync("mkfifo", [path]);

  expect(openFactsCache(path).get("a")).toBeUndefined();
});

test("openFactsCache() starts again when the file has become huge", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  truncateSync(path, 300 * 1024 * 1024);

  const before = openFactsCache(path).get("a");
  save(path, { b: facts("two") });

  expect(before).toBeUndefined();
  expect(statSync(path).size).toBeLessThan(10_000);
  expect(openFactsCache(path).get("b")).toEqual(facts("two"));
});

test("openFactsCache() forgets the oldest half when there are too many", () => {
  const path = createPath();
  save(path, Object.fromEntries(Array.from({ length: 19_999 }, (_, index) => [`k${index}`, facts("x")])));

  save(path, { last: facts("x"), "one more": facts("x") });
  const cache = openFactsCache(path);

  expect(readFileSync(path, "utf8").trim().split("\n").length).toBe(10_000);
  expect(cache.get("one more")).toEqual(facts("x"));
  expect(cache.get("k19998")).toEqual(facts("x"));
  expect(cache.get("k0")).toBeUndefined();
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
  const module = fileURLToPath(new URL("facts-cache.ts", import.meta.url));
  const program = `
    import { openFactsCache } from ${JSON.stringify(module)};
    const [path, name] = process.argv.slice(1);
    for (let round = 0; round < 40; round++) {
      const cache = openFactsCache(path);
      cache.set(name + round, { scripts: [], diagnostics: [], document: { body: "x".repeat(20000) } });
      cache.save();
    }`;
  const children = ["a", "b"].map((name) =>
    spawn(process.execPath, ["--input-type=module-typescript", "-e", program, path, name]),
  );
  onTestFinished(() => children.forEach((child) => child.kill("SIGKILL")));

  await Promise.all(children.map((child) => once(child, "close")));
  const cache = openFactsCache(path);

  const keys = ["a", "b"].flatMap((name) => Array.from({ length: 40 }, (_, round) => `${name}${round}`));
  expect(keys.filter((key) => cache.get(key) === undefined)).toEqual([]);
});

test("get() answers with the same object each time", () => {
  const path = createPath();
  save(path, { a: facts("one") });
  const cache = openFactsCache(path);

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

function save(path: string, entries: Readonly<Record<string, SkillFacts>>): void {
  const cache = openFactsCache(path);
  for (const [key, value] of Object.entries(entries)) cache.set(key, value);
  cache.save();
}

function facts(message: string): SkillFacts {
  return { scripts: [], scriptDiagnostics: [], diagnostics: [{ severity: "info", code: "test", message, file: "" }] };
}
