import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
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
  expect(statSync(shardOf(path, "a")).mode & 0o777).toBe(0o600);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("openLineCache() reads only the shards of the keys that are asked for", () => {
  const path = createPath();
  const keys = Array.from({ length: 400 }, (_, index) => `key ${index}`);
  save(path, Object.fromEntries(keys.map((key) => [key, facts(key)])));
  const files = readdirSync(path);
  for (const file of files) if (join(path, file) !== shardOf(path, "key 7")) writeFileSync(join(path, file), "gone");

  expect(files.length).toBeGreaterThan(150);
  expect(openLineCache(path).get("key 7")).toEqual(facts("key 7"));
  expect(keys.filter((key) => openLineCache(path).get(key) !== undefined).length).toBeLessThan(20);
});

test("openLineCache() finds what the same program has saved, and what it has not saved yet", () => {
  const path = createPath();
  const cache = openLineCache(path);
  for (let index = 0; index < 1500; index += 1) cache.set(`k${index}`, facts("x".repeat(20_000)));

  expect(cache.get("k0")).toEqual(facts("x".repeat(20_000)));
  expect(cache.get("k1499")).toEqual(facts("x".repeat(20_000)));
  expect(readdirSync(path).length).toBeGreaterThan(100);
});

test("save() removes the one file that was the cache before", () => {
  const path = createPath();
  mkdirSync(dirname(path));
  writeFileSync(`${path}.jsonl`, "old");

  save(path, { a: facts("one") });

  expect(existsSync(`${path}.jsonl`)).toBe(false);
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
  const before = statSync(shardOf(path, "a")).size;

  const cache = openLineCache(path);
  cache.get("a");
  cache.save();

  expect(statSync(shardOf(path, "a")).size).toBe(before);
});

test.for([
  ["empty", ""],
  ["not a cache", "hello\nworld\n"],
  ["bytes", "\0\0\0\uFFFD"],
  ["JSON of another kind", '{"version":1,"entries":[]}'],
  ["of another version", `kitbag-facts-0\t${digestOf("a")}\t${"0".repeat(32)}\t{"scripts":[],"diagnostics":[]}\n`],
  ["a line without its end", `${factsVersion}\t${digestOf("a")}`],
  ["a line without its sum", `${factsVersion}\t${digestOf("a")}\t{"scripts":[],"diagnostics":[]}`],
  ["a line with a wrong sum", `${factsVersion}\t${digestOf("a")}\t${"0".repeat(32)}\t{"scripts":[],"diagnostics":[]}`],
] as const)("openLineCache() takes a shard that is %s for an empty one, and can use it", ([, content]) => {
  const path = createShard("a", content);

  const before = openLineCache(path).get("a");
  save(path, { a: facts("new") });

  expect(before).toBeUndefined();
  expect(openLineCache(path).get("a")).toEqual(facts("new"));
});

test("openLineCache() loses only the lines that were damaged", () => {
  const path = createPath();
  const [one, two, three] = keysOfOneShard(3);
  save(path, { [one]: facts("one"), [two]: facts("two"), [three]: facts("three") });
  const file = shardOf(path, one);
  writeFileSync(file, readFileSync(file, "utf8").replace('"two"', '"2wo"'));

  const cache = openLineCache(path);

  expect([cache.get(one), cache.get(two), cache.get(three)]).toEqual([facts("one"), undefined, facts("three")]);
});

test("openLineCache() believes no line that was moved to another key", () => {
  const path = createPath();
  const [one, two] = keysOfOneShard(2);
  save(path, { [one]: facts("one") });
  const file = shardOf(path, one);
  writeFileSync(file, readFileSync(file, "utf8").replace(digestOf(one), digestOf(two)));

  expect(openLineCache(path).get(two)).toBeUndefined();
});

test("openLineCache() goes on after a program that was killed in the middle of a line", () => {
  const path = createPath();
  const [one, two, three] = keysOfOneShard(3);
  save(path, { [one]: facts("one"), [two]: facts("two") });
  truncateSync(shardOf(path, one), statSync(shardOf(path, one)).size - 20);

  save(path, { [three]: facts("three") });
  const cache = openLineCache(path);

  expect([cache.get(one), cache.get(two), cache.get(three)]).toEqual([facts("one"), undefined, facts("three")]);
});

test("get() believes no line of a shard that another program has written anew", () => {
  const path = createPath();
  const [one, two] = keysOfOneShard(2);
  save(path, { [one]: facts("one"), [two]: facts("two") });
  const cache = openLineCache(path);
  cache.get(one);

  writeFileSync(shardOf(path, one), `\n${readFileSync(shardOf(path, one), "utf8")}`);

  expect(cache.get(two)).toBeUndefined();
  expect(openLineCache(path).get(two)).toEqual(facts("two"));
});

test("openLineCache() does not believe a file that others can write, and replaces it", () => {
  const path = createPath();
  const [one, two] = keysOfOneShard(2);
  save(path, { [one]: facts("planted") });
  chmodSync(shardOf(path, one), 0o666);

  const before = openLineCache(path).get(one);
  save(path, { [two]: facts("mine") });

  expect(before).toBeUndefined();
  expect(openLineCache(path).get(one)).toBeUndefined();
  expect(openLineCache(path).get(two)).toEqual(facts("mine"));
  expect(statSync(shardOf(path, one)).mode & 0o777).toBe(0o600);
});

test("openLineCache() does not believe a file behind a link, and leaves that file alone", () => {
  const elsewhere = createPath();
  save(elsewhere, { a: facts("planted") });
  const content = readFileSync(shardOf(elsewhere, "a"), "utf8");
  const path = createPath();
  mkdirSync(path, { recursive: true });
  symlinkSync(shardOf(elsewhere, "a"), shardOf(path, "a"));

  expect(openLineCache(path).get("a")).toBeUndefined();
  save(path, { a: facts("mine") });

  expect(openLineCache(path).get("a")).toEqual(facts("mine"));
  expect(readFileSync(shardOf(elsewhere, "a"), "utf8")).toBe(content);
});

test("openLineCache() does not wait for a pipe", () => {
  const path = createPath();
  mkdirSync(path, { recursive: true });
  execFileSync("mkfifo", [shardOf(path, "a")]);

  expect(openLineCache(path).get("a")).toBeUndefined();
});

test("openLineCache() starts a shard again that has become huge", () => {
  const path = createPath();
  const [one, two] = keysOfOneShard(2);
  save(path, { [one]: facts("one") });
  truncateSync(shardOf(path, one), 300 * 1024 * 1024);

  const before = openLineCache(path).get(one);
  save(path, { [two]: facts("two") });

  expect(before).toBeUndefined();
  expect(statSync(shardOf(path, one)).size).toBeLessThan(10_000);
  expect(openLineCache(path).get(two)).toEqual(facts("two"));
});

test("openLineCache() forgets the oldest of a shard with too much", () => {
  const path = createPath();
  const keys = keysOfOneShard(30);

  for (const key of keys) save(path, { [key]: facts("x".repeat(50_000)) });
  const cache = openLineCache(path);

  expect(statSync(shardOf(path, keys[0])).size).toBeLessThan(1024 * 1024);
  expect(cache.get(keys[29] ?? "")).toBeDefined();
  expect(cache.get(keys[20] ?? "")).toBeDefined();
  expect(cache.get(keys[0])).toBeUndefined();
});

test("openLineCache() keeps nothing that is too large for a shard", () => {
  const path = createPath();

  save(path, { a: facts("x".repeat(600_000)) });

  expect(openLineCache(path).get("a")).toBeUndefined();
});

test("openLineCache() writes a shard anew when most of it is no use any more", () => {
  const path = createPath();
  const [one, two] = keysOfOneShard(2);
  for (let round = 0; round < 8; round += 1)
    save(path, { [one]: facts("x".repeat(40_000)), [two]: facts(String(round)) });

  expect(statSync(shardOf(path, one)).size).toBeLessThan(250_000);
  expect(openLineCache(path).get(two)).toEqual(facts("7"));
});

test("save() is silent where it cannot write", () => {
  const file = join(createFolder({ file: "" }), "file");
  const path = createPath();
  mkdirSync(shardOf(path, "a"), { recursive: true });

  save(join(file, "below/cache"), { a: facts("one") });
  save(path, { a: facts("one") });

  expect(statSync(file).size).toBe(0);
  expect(readdirSync(path)).toEqual([`${digestOf("a").slice(0, 2)}.jsonl`]);
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

function createPath(): string {
  return join(createFolder(), "cache/facts");
}

/** A cache whose shard for a key has this content. */
function createShard(key: string, content: string): string {
  const path = createPath();
  mkdirSync(path, { recursive: true });
  writeFileSync(shardOf(path, key), "", { mode: 0o600 });
  appendFileSync(shardOf(path, key), content);
  return path;
}

function digestOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 32);
}

function shardOf(path: string, key: string): string {
  return join(path, `${digestOf(key).slice(0, 2)}.jsonl`);
}

function keysOfOneShard(count: number): [string, string, string, ...string[]] {
  const keys: string[] = [];
  for (let number = 0; keys.length < count || keys.length < 3; number += 1)
    if (digestOf(`key ${number}`).startsWith("a7")) keys.push(`key ${number}`);
  return keys as [string, string, string, ...string[]];
}

function save(path: string, entries: Readonly<Record<string, unknown>>): void {
  const cache = openLineCache(path);
  for (const [key, value] of Object.entries(entries)) cache.set(key, value);
  cache.save();
}

function facts(message: string): unknown {
  return { scripts: [], message };
}
