import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from "node:fs";
import { basename, join, resolve, sep } from "node:path";

import { quote } from "../../core/errors.ts";
import { parseSkillDocument } from "./parse-skill-document.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { maxFileBytes, type SkillReading } from "./skill-document.ts";

/** How a skill's folder is read. */
export interface LoadOptions {
  /** What diagnostics call the folder, with `/`. @default nothing: they call the file `SKILL.md` */
  readonly path?: string;
  /** The names in the folder, if they are already known. @default the folder is listed */
  readonly entries?: readonly string[];
  /** See {@link parseSkillDocument}. @default false */
  readonly spec?: boolean;
}

/** A SKILL.md, read from disk. */
export interface LoadedSkill extends SkillReading {
  /** The bytes that were parsed, for a digest of exactly these. */
  readonly bytes?: Uint8Array;
  /** The name of the file in its folder. */
  readonly fileName?: string;
}

/**
 * Finds and reads the SKILL.md of a folder.
 *
 * Contract: never throws and never waits: devices, pipes and folders of that name are refused, a link may not leave the folder,
 * and at most {@link maxFileBytes} are read. A folder that is not there, or goes away meanwhile, is a diagnostic. The folder
 * itself may be a link.
 */
export function loadSkillDocument(directory: string, options: LoadOptions = {}): LoadedSkill {
  const toFile = (name: string): string => (options.path ? `${options.path}/${name}` : name);
  const missing = createReporter(toFile("SKILL.md"), options.spec);
  const fileName = findFileName(directory, options.entries, missing);
  if (fileName === undefined) return { diagnostics: missing.list() };
  const reporter = createReporter(toFile(fileName), options.spec);
  checkSpelling(fileName, reporter);
  const bytes = readFileSafely(directory, fileName, reporter);
  const found = [...missing.list(), ...reporter.list()];
  if (bytes === undefined) return { diagnostics: found, fileName };
  const reading = parseSkillDocument(bytes, {
    file: toFile(fileName),
    directoryName: basename(resolve(directory)),
    ...(options.spec !== undefined && { spec: options.spec }),
  });
  return { ...reading, diagnostics: [...found, ...reading.diagnostics], bytes, fileName };
}

const firstPlace = { line: 1, column: 1 };

/** Finds the name that is most likely meant by SKILL.md: `SKILL.md` before `skill.md` before any other spelling. */
export function findSkillFileName(names: readonly string[]): string | undefined {
  const candidates = names.filter(isSkillFileName);
  return ["SKILL.md", "skill.md"].find((name) => candidates.includes(name)) ?? candidates.toSorted()[0];
}

function isSkillFileName(name: string): boolean {
  return name.length === 8 && name.toLowerCase() === "skill.md";
}

function findFileName(
  directory: string,
  entries: readonly string[] | undefined,
  reporter: Reporter,
): string | undefined {
  const names = entries ?? listSafely(directory, reporter);
  if (names === undefined) return undefined;
  const chosen = findSkillFileName(names);
  const others = names.filter((name) => isSkillFileName(name) && name !== chosen);
  if (chosen === undefined) {
    reporter.report(
      "file-missing",
      "There is no SKILL.md in the folder",
      undefined,
      "Write one, with name and description",
    );
  } else if (others.length > 0) {
    const message = `There is also ${others.map(quote).join(", ")}; ${quote(chosen)} is used`;
    reporter.report("file-several", message, firstPlace, "Keep SKILL.md alone");
  }
  return chosen;
}

function listSafely(directory: string, reporter: Reporter): readonly string[] | undefined {
  try {
    return readdirSync(directory);
  } catch (cause) {
    reportUnreadable(`the folder cannot be listed (${reasonOf(cause)})`, reporter);
    return undefined;
  }
}

function checkSpelling(fileName: string, reporter: Reporter): void {
  if (fileName === "SKILL.md") return;
  const code = fileName === "skill.md" ? "file-lower-case" : "file-misspelled";
  reporter.report(
    code,
    `The file is called ${quote(fileName)}; some clients do not find it`,
    firstPlace,
    "Rename it to SKILL.md",
  );
}

// Without O_NONBLOCK, opening a pipe waits for a writer.
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

function readFileSafely(directory: string, fileName: string, reporter: Reporter): Uint8Array | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openInside(directory, fileName, reporter);
    if (descriptor === undefined) return undefined;
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) {
      reportUnreadable(`it is ${describeKind(stats)}, not a file`, reporter);
      return undefined;
    }
    return readBounded(descriptor, stats.size, reporter);
  } catch (cause) {
    reportUnreadable(reasonOf(cause), reporter);
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Opens the file itself, or what it links to if that is in the folder too. */
function openInside(directory: string, fileName: string, reporter: Reporter): number | undefined {
  const path = join(directory, fileName);
  try {
    return openSync(path, openFlags);
  } catch (cause) {
    if (codeOf(cause) !== "ELOOP" && codeOf(cause) !== "EMLINK") throw cause;
  }
  const target = realpathSync(path);
  if (!target.startsWith(realpathSync(directory) + sep)) {
    reportUnreadable("it is a link that leaves the folder", reporter);
    return undefined;
  }
  const descriptor = openSync(target, openFlags);
  // A folder on the way may have been exchanged since the path was resolved: compare what was opened.
  if (isSame(fstatSync(descriptor), statSync(target)) && realpathSync(target) === target) return descriptor;
  closeSync(descriptor);
  reportUnreadable("it changed while it was opened", reporter);
  return undefined;
}

function isSame(left: Stats, right: Stats): boolean {
  return left.ino === right.ino && left.dev === right.dev;
}

function readBounded(descriptor: number, size: number, reporter: Reporter): Uint8Array | undefined {
  if (size > maxFileBytes) return reportTooLarge(`${size} bytes`, reporter);
  // One byte more than expected, so that a file that grows is noticed.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > maxFileBytes) return reportTooLarge("grown", reporter);
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(length * 2, maxFileBytes) + 1);
  }
}

function reportTooLarge(found: string, reporter: Reporter): undefined {
  const message = `The file is too large: found ${found}; at most ${maxFileBytes} bytes are read`;
  reporter.report("file-too-large", message, firstPlace, "Move details to files under references/");
}

function reportUnreadable(reason: string, reporter: Reporter): void {
  reporter.report(
    "file-unreadable",
    `Cannot read the file: ${reason}`,
    undefined,
    "Put a plain file there that can be read",
  );
}

function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "something else";
}

function codeOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

function reasonOf(cause: unknown): string {
  return codeOf(cause) || (cause instanceof Error ? cause.message : String(cause));
}
