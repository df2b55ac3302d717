import { constants, lstatSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

import type { NamedFile } from "../../core/call-files.ts";
import { KitbagError } from "../../core/errors.ts";
import type { CallFiles } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { walkFolder, type WalkedFile, type WorkFolder } from "../../sandbox/work-folder.ts";
import { saveFile } from "./save-file.ts";

/** So many files that were not saved are told of, and so many bytes of them are kept. */
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
}

/**
 * Saves each output that the caller named where they named it, and keeps the other files that the script left in its folder.
 *
 * @throws {KitbagError} `file-denied` if an output could not be saved; it is kept then.
 */
export async function takeWritten(written: WrittenFolder): Promise<void> {
  const { tool, folder, before } = written;
  const keep = createKeeping(written);
  let unsaved: KitbagError | undefined;
  for await (const found of walkFolder(folder.files, { reopens: true })) {
    const place = relative(folder.files, found.path).split(sep).join("/");
    const output = findOutput(written, place);
    if (found.facts.isDirectory()) {
      if (output !== undefined) await mkdir(output.target, { recursive: true }).catch(() => {});
      continue;
    }
    if (!found.facts.isFile() || isByproduct(place) || before.get(place) === identify(found.path)) continue;
    try {
      if (output === undefined) await keep(place, found);
      else await save(written, place, { found, output });
    } catch (cause) {
      if (output === undefined) throw cause;
      await keep(place, found);
      const reason = `what the tool wrote could not be saved there: ${cause instanceof Error ? cause.message : String(cause)}`;
      unsaved ??= new KitbagError("file-denied", { tool: tool.name, file: output.named.name, reason }, { cause });
    }
  }
  // A script may have said a path there, or its home, for what it made: that is gone after the call.
  for await (const found of walkFolder(folder.temporary, { reopens: true })) {
    const path = relative(folder.temporary, found.path).split(sep).join("/");
    if (found.facts.isFile() && !isByproduct(path) && !isTemporary(path)) await keep(`/tmp/${path}`, found);
  }
  if (unsaved !== undefined) throw unsaved;
}

/** What interpreters and package managers leave behind. */
function isByproduct(place: string): boolean {
  return /(?:^|\/)__pycache__\/|^\.home\/\.(?:cache|npm)\//u.test(place);
}

/** Names that programs give to temporary files, caches and settings. */
function isTemporary(path: string): boolean {
  return /(?:^|\/)(?:\.|tmp[\w-]|node-compile-cache|v8-|npm-|pip-|matplotlib-|hsperfdata_|pymp-|Rtmp|perl-|ruby-)/u.test(
    path,
  );
}

interface Output {
  readonly named: NamedFile;
  readonly target: string;
}

/** The output that a place is, or that is a folder which it is in. */
function findOutput({ placed }: WrittenFolder, place: string): Output | undefined {
  for (const { named, place: root } of placed) {
    if (named.use !== "write" || named.path === undefined) continue;
    if (place === root) return { named, target: named.path };
    if (place.startsWith(`${root}/`)) return { named, target: join(named.path, place.slice(root.length + 1)) };
  }
  return undefined;
}

async function save(
  { files, targets, locks, placed }: WrittenFolder,
  place: string,
  { found, output: { target } }: { readonly found: WalkedFile; readonly output: Output },
): Promise<void> {
  const saved = await saveFile({ source: found.path, target, before: targets.get(target) ?? "", locks });
  await files.add({ path: showPlace(placed, place), bytes: found.facts.size, savedTo: target, ...saved });
}

/** Keeps files, as far as there is room. */
function createKeeping({ files, placed }: WrittenFolder): (place: string, found: WalkedFile) => Promise<void> {
  let left = mostKeptBytes;
  let told = 0;
  return async (place, { path, facts }) => {
    told += 1;
    if (told > mostTold) return;
    const isKept = facts.size <= left;
    if (isKept) left -= facts.size;
    await files.add({ path: showPlace(placed, place), bytes: facts.size }, isKept ? await readPlain(path) : undefined);
  };
}

/** What the script has as its home, and for temporary files; with what is shown for them. */
export const ownFolders: readonly (readonly [place: string, shown: string])[] = [
  [".home", "~"],
  [".tmp", "/tmp"],
];

/** A place as the caller would write it. */
function showPlace(placed: readonly PlacedFile[], place: string): string {
  const own = ownFolders.find(([folder]) => place.startsWith(`${folder}/`));
  if (own !== undefined) return own[1] + place.slice(own[0].length);
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
