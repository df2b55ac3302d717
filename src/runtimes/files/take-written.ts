import { constants, lstatSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

import type { NamedFile } from "../../core/call-files.ts";
import { KitbagError } from "../../core/errors.ts";
import type { CallFiles } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { findShieldsAround } from "../../sandbox/shields.ts";
import { walkFolder, type WalkedFile, type WorkFolder } from "../../sandbox/work-folder.ts";
import { saveFile } from "./save-file.ts";

/** The maximum number of files that were not saved in the list of a call, and of their bytes that are kept. */
const mostTold = 200;
const mostKeptBytes = 32 * 1024 * 1024;

/** A named file, and where it is in the private folder. */
export interface PlacedFile {
  readonly named: NamedFile;
  /** Relative to the private folder. */
  readonly place: string;
  /** What is written beside it is shown with this in front. */
  readonly prefix: string;
}

/** What a script left in its private folder. */
export interface WrittenFolder {
  readonly tool: Tool;
  readonly files: CallFiles;
  readonly placed: readonly PlacedFile[];
  readonly folder: WorkFolder;
  /** What each file was when the script started. */
  readonly before: ReadonlyMap<string, string>;
  /** What was at the targets of outputs then. */
  readonly targets: ReadonlyMap<string, string>;
  readonly locks: string;
  /** Whether outputs are saved where the caller named them; else they are only kept. */
  readonly saves: boolean;
  /** Whether a file of the project was mounted at a place: an empty file is left of that. */
  readonly isMounted: (place: string) => boolean;
}

/**
 * Saves each output that the caller named where they named it, and keeps the other files that the script left in its folder.
 *
 * @throws {KitbagError} `file-denied` if an output could not be saved; it is kept then.
 */
export async function takeWritten(written: WrittenFolder): Promise<void> {
  const { folder } = written;
  const keeper = createKeeper(written);
  const unsaved = await takeFiles(written, keeper);
  // A script may have a path there, or its home, for what it makes: that is gone after the call.
  await keepOthers(folder.home, (path) => (/^\.(?:cache|npm)\//u.test(path) ? undefined : `~/${path}`), keeper);
  await keepOthers(folder.temporary, (path) => (isTemporary(path) ? undefined : `/tmp/${path}`), keeper);
  await keeper.end();
  if (unsaved !== undefined) throw unsaved;
}

/** Takes out what is in the folder in which the script worked; answers with why an output could not be saved. */
async function takeFiles(written: WrittenFolder, keeper: Keeper): Promise<KitbagError | undefined> {
  const { tool, folder, placed } = written;
  let unsaved: KitbagError | undefined;
  for await (const found of walkFolder(folder.files, { reopens: true })) {
    const place = toPlace(folder.files, found);
    const output = findOutput(written, place);
    if (found.facts.isDirectory() && output !== undefined)
      await mkdir(output.target, { recursive: true }).catch(() => {});
    if (!found.facts.isFile() || isByproduct(place) || !isWritten(written, place, found)) continue;
    const problem = output === undefined ? undefined : await save(written, place, { found, output });
    if (output === undefined || problem !== undefined) await keeper.keep(showPlace(placed, place), found);
    if (problem === undefined) continue;
    const reason = `what the tool wrote could not be saved there: ${problem.message}`;
    unsaved ??= new KitbagError("file-denied", { tool: tool.name, file: output?.named.name ?? place, reason });
  }
  return unsaved;
}

/** Whether the script wrote a file: it is not as it was put there, and not the empty file on which one of the project was mounted. */
function isWritten({ before, isMounted }: WrittenFolder, place: string, { path, facts }: WalkedFile): boolean {
  return before.get(place) !== identify(path) && !(facts.size === 0 && isMounted(place));
}

async function keepOthers(root: string, show: (path: string) => string | undefined, keeper: Keeper): Promise<void> {
  for await (const found of walkFolder(root, { reopens: true })) {
    const path = toPlace(root, found);
    const shown = found.facts.isFile() && !isByproduct(path) ? show(path) : undefined;
    if (shown !== undefined) await keeper.keep(shown, found);
  }
}

function toPlace(root: string, { path }: WalkedFile): string {
  return relative(root, path).split(sep).join("/");
}

/** What interpreters leave behind. */
function isByproduct(place: string): boolean {
  return /(?:^|\/)__pycache__\//u.test(place);
}

/** Names that programs give to temporary files and caches. */
const temporaryNames =
  /(?:^|\/)(?:\.|tmp[\w-]|node-compile-cache|v8-|npm-|pip-|matplotlib-|hsperfdata_|pymp-|Rtmp|perl-|ruby-)/u;

function isTemporary(path: string): boolean {
  return temporaryNames.test(path);
}

interface Output {
  readonly named: NamedFile;
  readonly target: string;
}

/** The output that a place is, or that is a folder which it is in; nothing for what is not saved there. */
function findOutput({ placed, saves }: WrittenFolder, place: string): Output | undefined {
  if (!saves) return undefined;
  for (const { named, place: root } of placed) {
    if (named.use !== "write" || named.path === undefined) continue;
    if (place === root) return { named, target: named.path };
    const below = place.startsWith(`${root}/`) ? join(named.path, place.slice(root.length + 1)) : undefined;
    if (below !== undefined) return isObeyed(below, named.path) ? undefined : { named, target: below };
  }
  return undefined;
}

/** Whether git, editors, shells or Kitbag obey what is there. The caller named the folder, and not this. */
function isObeyed(path: string, folder: string): boolean {
  return findShieldsAround(path, { directory: folder }).length > 0;
}

/** Saves an output; answers with what is wrong if that cannot be done. */
async function save(
  { files, targets, locks, placed }: WrittenFolder,
  place: string,
  { found, output: { target } }: { readonly found: WalkedFile; readonly output: Output },
): Promise<Error | undefined> {
  try {
    const saved = await saveFile({ source: found.path, target, before: targets.get(target) ?? "", locks });
    await files.add({ path: showPlace(placed, place), bytes: found.facts.size, savedTo: target, ...saved });
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause));
  }
}

/** Keeps files, as far as there is room. */
interface Keeper {
  keep(shown: string, found: WalkedFile): Promise<void>;
  /** Tells of those that were too many to be listed. */
  end(): Promise<void>;
}

function createKeeper({ files }: WrittenFolder): Keeper {
  const unlisted = { count: 0, bytes: 0 };
  let left = mostKeptBytes;
  let told = 0;
  return {
    async keep(path, found) {
      const bytes = found.facts.size;
      if (told === mostTold) {
        unlisted.count += 1;
        unlisted.bytes += bytes;
        return;
      }
      told += 1;
      const isKept = bytes <= left;
      if (isKept) left -= bytes;
      await files.add({ path, bytes }, isKept ? await readPlain(found.path) : undefined);
    },
    async end() {
      const { count, bytes } = unlisted;
      if (count > 0) await files.add({ path: `(${count} more files, which are not kept)`, bytes });
    },
  };
}

/** A place as the caller would write it. */
function showPlace(placed: readonly PlacedFile[], place: string): string {
  const beside = placed.find(({ place: own }) => own.startsWith(".named/") && place.startsWith(`${dirname(own)}/`));
  return beside === undefined ? place : beside.prefix + place.slice(dirname(beside.place).length + 1);
}

async function readPlain(path: string): Promise<Uint8Array | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  try {
    return await handle?.readFile();
  } finally {
    await handle?.close();
  }
}

/** What changes when a file is written or replaced. No program in a sandbox can set it back. */
export function identify(path: string): string {
  const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? "" : `${facts.dev}:${facts.ino}:${facts.size}:${facts.ctimeNs}`;
}
