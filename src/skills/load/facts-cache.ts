import { hash } from "node:crypto";
import { appendFileSync, closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { replaceFile } from "../trust/replace-file.ts";
import { factsVersion as version } from "./facts-version.ts";
import type { SkillFacts } from "./skill-facts.ts";

/** Facts by what they were read from. */
export interface FactsCache {
  get(key: string): SkillFacts | undefined;
  set(key: string, facts: SkillFacts): void;
  /** Writes what is new. A cache that cannot be written is only slower, so this never throws. */
  save(): void;
}

/** How much is remembered before the oldest half is forgotten. */
const limits = { entries: 20_000, bytes: 256 * 1024 * 1024 };

/**
 * Opens a cache in a file: one line for each skill, so that several programs can add to it and only the lines that are asked for
 * are parsed. It belongs to one person, like the list of what they trust: a file that others can write, and a line that is not
 * exactly what was written, count as not there. It must not be in a project, which could bring one along.
 */
export function openFactsCache(path: string | undefined): FactsCache {
  const file = path === undefined ? emptyFile : readLines(path);
  const lines = new Map(file.lines);
  const facts = new Map<string, SkillFacts>();
  const fresh = new Map<string, string>();

  return {
    get(key) {
      const known = facts.get(key);
      const line = lines.get(toWord(key));
      if (known !== undefined || line === undefined) return known;
      const read = parseLine(line);
      if (read !== undefined) facts.set(key, read);
      return read;
    },
    set(key, value) {
      // A program that runs for long reads many versions of the same skills.
      if (facts.size >= limits.entries) facts.clear();
      facts.set(key, value);
      if (path !== undefined) fresh.set(toWord(key), renderLine(toWord(key), value));
    },
    save() {
      if (path === undefined || fresh.size === 0) return;
      for (const [key, line] of fresh) lines.set(key, line);
      const isSmall = lines.size <= limits.entries && file.bytes <= limits.bytes;
      tryToWrite(path, isSmall && file.isOurs ? { more: [...fresh.values()] } : { all: newest(lines) });
      fresh.clear();
    },
  };
}

interface LinesFile {
  readonly lines: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** Only we can have written it, so it can be added to. */
  readonly isOurs: boolean;
}

const emptyFile: LinesFile = { lines: new Map(), bytes: 0, isOurs: false };

function readLines(path: string): LinesFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const status = fstatSync(file);
    if (!status.isFile() || !isPrivate(status) || status.size > limits.bytes) return emptyFile;
    const texts = readFileSync(file, "utf8").split("\n");
    return { lines: new Map(texts.flatMap(toPair)), bytes: status.size, isOurs: true };
  } catch {
    return emptyFile;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  const me = process.getuid?.();
  return me === undefined || ((uid === me || uid === 0) && (mode & 0o022) === 0);
}

function toPair(line: string): [word: string, line: string][] {
  if (!line.startsWith(`${version}\t`)) return [];
  const start = version.length + 1;
  const end = line.indexOf("\t", start);
  return end < 0 ? [] : [[line.slice(start, end), line]];
}

/** JSON has no tabs and line ends, whatever is in the text. */
function toWord(key: string): string {
  return JSON.stringify(key);
}

function renderLine(word: string, facts: SkillFacts): string {
  const text = JSON.stringify(facts);
  return `${version}\t${word}\t${sumOf(word, text)}\t${text}`;
}

function parseLine(line: string): SkillFacts | undefined {
  const [, word = "", sum = "", text = ""] = line.split("\t", 4);
  return sum === sumOf(word, text) ? (JSON.parse(text) as SkillFacts) : undefined;
}

function sumOf(word: string, text: string): string {
  return hash("sha256", `${word}\t${text}`).slice(0, 32);
}

function newest(lines: ReadonlyMap<string, string>): string[] {
  const all = [...lines.values()];
  const kept: string[] = [];
  let bytes = 0;
  for (const line of all.toReversed()) {
    bytes += line.length;
    const isEnough = all.length > limits.entries && kept.length >= limits.entries / 2;
    if (isEnough || bytes > limits.bytes / 2) break;
    kept.push(line);
  }
  return kept.toReversed();
}

type Writing = { readonly more: readonly string[] } | { readonly all: readonly string[] };

function tryToWrite(path: string, writing: Writing): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // It begins with a line end: the last line may have been cut off when a program was killed.
    if ("more" in writing) appendFileSync(path, `\n${writing.more.join("\n")}\n`, { mode: 0o600 });
    else replaceFile(path, `${writing.all.join("\n")}\n`, 0o600);
  } catch {
    // The next program reads the skills again.
  }
}
