import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";

import type { NamedFile } from "../../core/call-files.ts";
import { KitbagError } from "../../core/errors.ts";
import { cloneJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { CallFiles } from "../../core/runtime.ts";
import type { Tool } from "../../core/tool.ts";
import { removeTree } from "../../sandbox/work-area.ts";
import { watchWorkFolder, type FillFolder, type WorkFolder } from "../../sandbox/work-folder.ts";
import { leavesFolder } from "./find-files.ts";
import { findMounted, mostCopiedBytes } from "./mounted-files.ts";
import type { ProjectView } from "./project-view.ts";
import { identifyTarget } from "./save-file.ts";
import { identify, takeWritten, type PlacedFile, type WrittenFolder } from "./take-written.ts";

/** The private folder of one call: the files that its input names are copied into it, and what the script writes there is taken out. */
export interface CallFolder {
  /** Where it is inside. */
  readonly inside: WorkFolder;
  /** The folder of the host that it will be, if that was made before. */
  readonly given?: WorkFolder;
  /** The input with the names that the files have inside. */
  readonly input: JsonObject;
  /** Puts the named files into the folder. */
  readonly fill: FillFolder;
  /** Replaces the names inside by those that the caller used. */
  show(text: string): string;
  /** Calls `onFull` when more is in it than fits; answers with what ends that. */
  watch(maxBytes: number, onFull: () => void): () => void;
  /** Something is mounted for this call alone, so its sandbox is of no use for another one. */
  readonly hasMounts: boolean;
  /** Takes out what was written, after everything that could write is gone. */
  take(): Promise<void>;
  /** Keeps what a script wrote that was ended before it was done; nothing is saved where the caller named it. Never rejects. */
  keep(): Promise<void>;
  remove(): Promise<void>;
}

/** What a private folder is made for. */
export interface CallFolderOptions {
  readonly tool: Tool;
  readonly input: JsonObject;
  readonly files: CallFiles;
  /** Where it is inside. */
  readonly inside: WorkFolder;
  /** The folder of the host that it will be, where nothing can be shown at another place. */
  readonly given?: WorkFolder | undefined;
  /** Whether the script starts in it, so that relative names lead into it as they are. */
  readonly isDirectory: boolean;
  /** What it must show of the project, if it is mounted there. */
  readonly view?: ProjectView | undefined;
  /** Where the locks are with which programs take turns in saving outputs. */
  readonly locks: string;
}

/** Files whose names cannot be kept as they are have folders of their own in this one. */
const namedFolder = ".named";

/** Plans the private folder of a call. Nothing is read or made before `fill`. */
export function openCallFolder(options: CallFolderOptions): CallFolder {
  const { tool, files, inside } = options;
  const mounted = new Set(findMounted(tool, files));
  const placed = files.named
    .filter((named) => !mounted.has(named))
    .map((named, index) => toPlaced(options, named, index));
  const { input, names } = rename(options, placed, mounted);
  let filled: Pick<WrittenFolder, "before" | "folder" | "targets"> | undefined;
  let isReady = false;
  const takeOut = async (saves: boolean): Promise<void> => {
    if (filled === undefined || !isReady) return;
    isReady = false;
    const isMounted = (place: string): boolean => options.view?.isTaken(place) === true;
    await takeWritten({ ...filled, tool, files, placed, locks: options.locks, isMounted, saves });
  };
  return {
    inside,
    ...(options.given !== undefined && { given: options.given }),
    input,
    hasMounts: mounted.size > 0,
    async fill(folder) {
      filled = { folder, before: new Map(), targets: new Map() };
      filled = { folder, targets: identifyTargets(placed), before: await fillFolder(options, placed, folder.files) };
      if (options.view !== undefined) addLinks(options.view, folder.files);
      isReady = true;
    },
    show: createShow(names),
    watch(maxBytes, onFull) {
      // What was copied into it does not count.
      return filled === undefined ? () => {} : watchWorkFolder(filled.folder, maxBytes + mostCopiedBytes, onFull);
    },
    take: () => takeOut(true),
    async keep() {
      // Why the script was ended is what the caller must hear.
      await takeOut(false).catch(() => {});
    },
    async remove() {
      const folder = filled?.folder ?? options.given;
      if (folder !== undefined) await removeTree(folder.root);
    },
  };
}

/** The input with the names that files have inside, and the names that the caller used for them. */
function rename(
  options: CallFolderOptions,
  placed: readonly PlacedFile[],
  mounted: ReadonlySet<NamedFile>,
): { readonly input: JsonObject; readonly names: ReadonlyMap<string, string> } {
  const { inside } = options;
  const input = cloneJson(options.input);
  const names = new Map([
    [inside.files, "."],
    [inside.home, "~"],
    [inside.temporary, "/tmp"],
  ]);
  for (const { named, place, prefix } of placed) {
    if (!place.startsWith(`${namedFolder}/`)) continue;
    replaceAt(input, named.at, `${inside.files}/${place}`);
    names.set(`${inside.files}/${dirname(place)}`, prefix === "" ? "." : prefix.slice(0, -1));
  }
  for (const named of mounted) {
    replaceAt(input, named.at, named.path as string);
    names.set(named.path as string, named.name);
  }
  return { input, names };
}

/** What is where outputs are to be saved, before the script starts. */
function identifyTargets(placed: readonly PlacedFile[]): ReadonlyMap<string, string> {
  const paths = placed.flatMap(({ named: { use, path } }) => (use === "write" && path !== undefined ? [path] : []));
  return new Map(paths.map((path) => [path, identifyTarget(path)]));
}

/** This comes last, so that nothing is put where a link leads. */
function addLinks({ links }: ProjectView, folder: string): void {
  for (const [place, target] of links) symlinkSync(target, join(folder, place));
}

function toPlaced({ isDirectory, view }: CallFolderOptions, named: NamedFile, index: number): PlacedFile {
  const { name, handle } = named;
  if (isDirectory && handle === undefined && !isAbsolute(name) && !/^~(?:\/|$)/u.test(name) && !leavesFolder(name)) {
    const place = normalize(name);
    if (!place.startsWith(namedFolder) && view?.isTaken(place) !== true) return { named, place, prefix: "" };
  }
  const last = handle === undefined ? basename(name) : "file";
  const prefix = handle === undefined && name.includes("/") ? `${dirname(name).replace(/\/$/u, "")}/` : "";
  return { named, place: `${namedFolder}/${index}/${last}`, prefix };
}

function replaceAt(input: JsonValue, at: NamedFile["at"], text: string): void {
  const way = at.slice(0, -1);
  const holder = way.reduce<JsonValue>((value, key) => (value as Record<string, JsonValue>)[key] as JsonValue, input);
  (holder as Record<string, JsonValue>)[at.at(-1) as string] = text;
}

/** Makes what replaces paths inside by the caller's names, the longest first. */
function createShow(names: ReadonlyMap<string, string>): (text: string) => string {
  const longestFirst = [...names.keys()].toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(`(?<![\\w./-])(?:${longestFirst.map(escapePattern).join("|")})(?![\\w.-])(/?)`, "gu");
  return (text) =>
    text.replace(pattern, (found, slash: string) => {
      const name = names.get(slash === "" ? found : found.slice(0, -1)) ?? found;
      if (slash === "") return name;
      return name === "." ? "" : `${name}/`;
    });
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, "\\$&");
}

/** Answers with what each file is after it was put there, to tell later whether the tool has changed it. */
async function fillFolder(
  { tool, files }: CallFolderOptions,
  placed: readonly PlacedFile[],
  folder: string,
): Promise<Map<string, string>> {
  const before = new Map<string, string>();
  let left = mostCopiedBytes;
  for (const { named, place } of placed) {
    const target = join(folder, place);
    try {
      mkdirSync(dirname(target), { recursive: true });
      if (named.kind === "nothing" || before.has(place)) continue;
      const isWritten = placed.some((other) => other.place === place && other.named.use === "write");
      if (named.handle !== undefined) await writeFile(target, await files.read(named.handle), { flag: "wx" });
      else left -= await copyIn(named.path as string, target, left);
      chmodSync(target, isWritten ? 0o644 : 0o444);
      before.set(place, identify(target));
    } catch (cause) {
      if (cause instanceof KitbagError && cause.code !== "file-denied") throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new KitbagError("file-denied", { tool: tool.name, file: named.name, reason }, { cause });
    }
  }
  return before;
}

/** What is copied at once: several short waits cost a warm call more than such a copy. */
const mostBytesAtOnce = 4 * 1024 * 1024;

/** Copies exactly the file that was checked when the call was allowed. The tool does not see later changes. */
async function copyIn(path: string, target: string, left: number): Promise<number> {
  // A link or a pipe in place of the file must not be followed or waited for.
  const source = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(source);
    if (!facts.isFile()) throw new Error("it is no ordinary file any more");
    if (facts.size > left)
      throw new Error(`it has grown: all files of a call may have ${mostCopiedBytes} bytes; call again`);
    const held = process.platform === "linux" ? `/proc/self/fd/${source}` : path;
    if (held !== path && readlinkSync(held) !== path) throw new Error("another file took its place; call again");
    const how = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;
    if (facts.size > mostBytesAtOnce) await copyFile(held, target, how);
    else copyFileSync(held, target, how);
    return facts.size;
  } finally {
    closeSync(source);
  }
}
