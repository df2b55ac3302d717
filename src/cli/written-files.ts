import { mkdirSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, normalize, relative } from "node:path";

import type { WrittenFile } from "../core/call-files.ts";
import { describeCause } from "../core/errors.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import { createFileAtomically } from "../platform/files.ts";
import { isInside, showPath, toRealPath } from "../platform/paths.ts";
import { findShieldsAround } from "../sandbox/shields.ts";
import type { Answer, Invocation } from "./cli-command.ts";
import { toPrintable } from "./printable.ts";
import { showBytes, toShownPath } from "./render.ts";

/** A file that a call wrote, and why `--keep` did not save it. */
interface ListedFile extends WrittenFile {
  readonly unsaved?: string;
}

/** What is done with the files of a call. */
export interface WrittenOptions {
  readonly invocation: Pick<Invocation, "cwd" | "env" | "options">;
  /** The tool's. */
  readonly address: string;
  /** Reads what is kept under a handle. */
  read(handle: string): Promise<Uint8Array>;
}

/** Adds to the answer what a person should know of the files that a call wrote; with `--keep`, they are saved first. */
export async function answerWritten(
  outcome: ToolOutcome & { readonly files: readonly WrittenFile[] },
  toAnswer: (outcome: ToolOutcome) => Answer,
  options: WrittenOptions,
): Promise<Answer> {
  const { invocation, address } = options;
  const files = invocation.options["keep"] === true ? await saveWritten(outcome.files, options) : outcome.files;
  return { ...toAnswer({ ...outcome, files }), note: toPrintable(renderWritten(files, address, invocation.cwd)) };
}

/**
 * Saves the files that only a handle leads to in the working directory. It overwrites nothing: a file whose name is taken gets a number. It
 * makes no file that programs run or obey by its name: hidden files, and those that {@link findShieldsAround} knows.
 */
async function saveWritten(files: readonly WrittenFile[], options: WrittenOptions): Promise<ListedFile[]> {
  const saved: ListedFile[] = [];
  for (const file of files) saved.push(file.savedTo === undefined ? await saveOne(file, options) : file);
  return saved;
}

async function saveOne(file: WrittenFile, { invocation: { cwd, env }, read }: WrittenOptions): Promise<ListedFile> {
  if (file.handle === undefined) return { ...file, unsaved: "it is too large to be kept; name it in the call" };
  try {
    const bytes = await read(file.handle);
    const target = findPlace(file.path, cwd);
    const folder = toRealPath(dirname(target));
    const names = relative(cwd, target).split("/");
    const { HOME: home } = env;
    const places = { directory: cwd, ...(home !== undefined && { home }) };
    if (names.some((name) => name.startsWith(".")) || findShieldsAround(target, places).length > 0)
      return { ...file, unsaved: "programs obey or run files of this name" };
    if (!isInside(folder, toRealPath(cwd))) return { ...file, unsaved: "a link leads out of this folder" };
    mkdirSync(folder, { recursive: true });
    return { ...file, savedTo: createFree(join(folder, basename(target)), bytes) };
  } catch (cause) {
    return { ...file, unsaved: describeCause(cause) };
  }
}

/** Where a file goes: to its place below the working directory; if it was written elsewhere, only its name counts. */
function findPlace(path: string, cwd: string): string {
  const place = normalize(path);
  return isAbsolute(place) || /^(?:\.\.|~)(?:\/|$)/u.test(place) ? join(cwd, basename(place)) : join(cwd, place);
}

/** Makes a file under the first free name: `report.md`, `report-2.md`. */
function createFree(path: string, bytes: Uint8Array): string {
  const ending = extname(path);
  const stem = path.slice(0, path.length - ending.length);
  for (let count = 1; ; count += 1) {
    const place = count === 1 ? path : `${stem}-${count}${ending}`;
    if (createFileAtomically(place, bytes, { mode: 0o644 })) return place;
  }
}

/** What a person is told of the files that a call of `address` wrote, a line each. */
function renderWritten(files: readonly ListedFile[], address: string, cwd: string): string {
  const [skill] = address.split("/");
  const isKept = (file: ListedFile): boolean => file.savedTo !== undefined;
  const lines = files.map((file) => {
    if (file.savedTo === undefined)
      return `wrote ${showPath(file.path)} (${showBytes(file.bytes)}, ${whyUnsaved(file)})`;
    const { savedTo, backup } = file;
    const before = backup === undefined ? "" : `; what was there is now ${showPath(toShownPath(backup, cwd))}`;
    return `wrote ${showPath(toShownPath(savedTo, cwd))} (${showBytes(file.bytes)}${before})`;
  });
  if (files.every((file) => isKept(file) || file.unsaved !== undefined)) return lines.join("\n");
  const grant = address.includes("/") ? `, or let it write here: kitbag grant ${skill} --write .` : "";
  return [...lines, `→ to save it in this folder: call again with --keep${grant}`].join("\n");
}

function whyUnsaved({ unsaved, handle }: ListedFile): string {
  if (unsaved !== undefined) return `not saved: ${unsaved}`;
  return handle === undefined ? "not kept: it is too large" : "not kept in this folder";
}
