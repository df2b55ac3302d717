import { hash } from "node:crypto";
import { appendFileSync, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

import { makeHomeFolder } from "../../platform/home.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { factsVersion as version } from "./facts-version.ts";

/** JSON by key. */
export interface LineCache {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  /** Writes what is new. A cache that cannot be written is only slower, so this never throws. */
  save(): void;
}

/** How much is remembered before the oldest half is forgotten. */
const limits = { entries: 40_000, bytes: 256 * 1024 * 1024 };

/**
 * Opens a cache in a file: one line for each key, so that several programs can add to it and only the lines that are asked for
 * are parsed. It belongs to one person, like the list of what they trust: a file that others can write, and a line that is not
 * exactly what was written, count as not there. It must not be in a project, which could bring one along.
 */
export function openLineCache(path: string | undefined): LineCache {
  const file = path === undefined ? emptyFile : readLines(path);
  const lines = new Map(file.lines);
  const values = new Map<string, unknown>();
  const fresh = new Map<string, string>();
  let canAdd = file.isOurs && !file.isMostlyDead;

  return {
    get(key) {
      if (values.has(key)) return values.get(key);
      const word = toWord(key);
      const line = lines.get(word);
      const read = line === undefined ? undefined : parseLine(word, line);
      if (read !== undefined) values.set(key, read);
      return read;
    },
    set(key, value) {
      // A program that runs for long reads many versions of the same skills.
      if (values.size >= limits.entries) values.clear();
      values.set(key, value);
      if (path === undefined) return;
      const word = toWord(key);
      fresh.set(word, renderLine(word, value));
    },
    save() {
      if (path === undefined || fresh.size === 0) return;
      for (const [key, line] of fresh) lines.set(key, line);
      canAdd = canAdd && lines.size <= limits.entries;
      tryToWrite(path, canAdd ? { more: [...fresh.values()] } : { all: newest(lines) });
      canAdd = true;
      fresh.clear();
    },
  };
}

interface LinesFile {
  readonly lines: ReadonlyMap<string, string>;
  /** Only we can have written it, so it can be added to. */
  readonly isOurs: boolean;
  /** Most of it was written over, or by other releases. */
  readonly isMostlyDead: boolean;
}

const emptyFile: LinesFile = { lines: new Map(), isOurs: false, isMostlyDead: false };

function readLines(path: string): LinesFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const status = fstatSync(file);
    if (!status.isFile() || !isPrivate(status) || status.size > limits.bytes) return emptyFile;
    // All of it is ASCII. As text of this kind it is not decoded, and not in the heap that is searched for garbage.
    const texts = readFileSync(file, "latin1").split("\n");
    const lines = new Map(texts.flatMap(toPair));
    const used = lines.values().reduce((sum, line) => sum + line.length, 0);
    const dead = texts.reduce((sum, line) => sum + line.length, 0) - used;
    return { lines, isOurs: true, isMostlyDead: dead > used + 100_000 };
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

const sumLength = 32;
/** Where the sum of a line begins, and then what it is the sum of: the word and the value. */
const sumStart = version.length + 1;
const wordStart = sumStart + sumLength + 1;

function toPair(line: string): [word: string, line: string][] {
  if (!line.startsWith(`${version}\t`)) return [];
  const end = line.indexOf("\t", wordStart);
  return end < 0 ? [] : [[line.slice(wordStart, end), line]];
}

/** JSON has no tabs and line ends, whatever is in the text. */
function toWord(key: string): string {
  return toAscii(JSON.stringify(key));
}

function renderLine(word: string, value: unknown): string {
  const content = `${word}\t${toAscii(JSON.stringify(value))}`;
  return `${version}\t${sumOf(content)}\t${content}`;
}

/** The same JSON, with other letters written as their numbers. */
function toAscii(json: string): string {
  return json.replaceAll(/[^\p{ASCII}]/gu, (letter) =>
    Array.from({ length: letter.length }, (_, index) => toEscape(letter.charCodeAt(index))).join(""),
  );
}

function toEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

function parseLine(word: string, line: string): unknown {
  const isWhole = line.slice(sumStart, wordStart) === `${sumOf(line.slice(wordStart))}\t`;
  return isWhole ? (JSON.parse(line.slice(wordStart + word.length + 1)) as unknown) : undefined;
}

function sumOf(content: string): string {
  return hash("sha256", content).slice(0, sumLength);
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
    makeHomeFolder(dirname(path));
    // It begins with a line end: the last line may have been cut off when a program was killed.
    if ("more" in writing) appendFileSync(path, `\n${writing.more.join("\n")}\n`, { mode: 0o600 });
    else writeFileAtomically(path, `${writing.all.join("\n")}\n`);
  } catch {
    // The next program reads the skills again.
  }
}
