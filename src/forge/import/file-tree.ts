import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { ImportLimits } from "./fetched.ts";

/** One file that was fetched. */
interface TreeFile {
  readonly bytes: Uint8Array;
  readonly isExecutable: boolean;
}

/**
 * The files of a source, in memory, until all of them are known to be harmless. Each method throws `import-refused` with the name of
 * the entry that is to blame.
 */
export interface FileTree {
  /** Makes room for a file before it is read: by its name and the size that it is said to have. */
  announce(path: string, bytes: number): void;
  /** Adds a file that was announced. */
  addFile(path: string, file: TreeFile): void;
  addFolder(path: string): void;
  addLink(path: string, target: string): void;
  refuse(path: string, reason: string): never;
  /** Puts all files below a folder that is empty and ours. Answers with what was left out. */
  write(directory: string): readonly string[];
  readonly count: number;
}

type EntryKind = "file" | "folder";

/** Makes an empty tree. `source` is for messages. */
export function createFileTree(source: string, limits: Required<ImportLimits>): FileTree {
  const files = new Map<string, TreeFile>();
  const links = new Map<string, string>();
  const refuse = (entry: string, reason: string): never => {
    throw new KitbagError("import-refused", { source, entry: entry.slice(0, 200), reason });
  };
  const claim = createClaims(limits, refuse);
  const announced = createScale(limits.maxBytes, refuse);
  const added = createScale(limits.maxBytes, refuse);

  function checkSize(path: string, bytes: number): void {
    if (bytes > limits.maxFileBytes) refuse(path, `is larger than ${limits.maxFileBytes} bytes`);
  }

  return {
    refuse,
    announce(path, bytes) {
      claim(path, "file");
      checkSize(path, bytes);
      announced.add(path, bytes);
    },
    addFile(path, file) {
      checkSize(path, file.bytes.length);
      added.add(path, file.bytes.length);
      files.set(path, file);
    },
    addFolder: (path) => claim(path, "folder"),
    addLink(path, target) {
      claim(path, "file");
      const goal = toGoal(path, target);
      if (goal === undefined) return refuse(path, "is a link that leads out");
      links.set(path, goal);
    },
    write(directory) {
      const found = [...links.keys()].map((path) => [path, followLink(path, files, links)] as const);
      for (const [path, file] of found) added.add(path, file?.bytes.length ?? 0);
      const copies = found.flatMap(([path, file]) => (file === undefined ? [] : [[path, file] as const]));
      // Nothing is written before everything is known to be right.
      for (const [path, file] of [...files, ...copies]) writeFile(join(directory, path), file);
      return found.flatMap(([path, file]) =>
        file === undefined ? [`${path} (a link to a folder, or to nothing)`] : [],
      );
    },
    get count() {
      return files.size;
    },
  };
}

type Refuse = (entry: string, reason: string) => never;

/** Takes names, each once. */
function createClaims(
  { maxDepth, maxFiles }: Required<ImportLimits>,
  refuse: Refuse,
): (path: string, kind: EntryKind) => void {
  const taken = createTakenNames();
  let entries = 0;
  return (path, kind) => {
    const wrong = checkEntryPath(path, maxDepth);
    if (wrong !== undefined) refuse(path, wrong);
    entries += 1;
    if (entries > maxFiles)
      refuse(path, `is one too many: there may be ${maxFiles} files and folders; take one folder, with #:folder`);
    const rival = taken(path, kind);
    if (rival === path) refuse(path, "is there twice");
    if (rival !== undefined) refuse(path, `is the same name as ${JSON.stringify(rival)} on many systems`);
  };
}

/** Counts bytes up to a limit. */
function createScale(maxBytes: number, refuse: Refuse): { add(path: string, bytes: number): void } {
  let sum = 0;
  return {
    add(path, bytes) {
      sum += bytes;
      if (sum > maxBytes) refuse(path, `makes it larger than ${maxBytes} bytes`);
    },
  };
}

/** What a link leads to, if it stays inside. */
function toGoal(path: string, target: string): string | undefined {
  const goal = posix.normalize(posix.join(posix.dirname(path), target));
  const leadsOut = posix.isAbsolute(target) || /^[A-Za-z]:|[\\\0]/u.test(target) || /^\.\.(?:\/|$)/u.test(goal);
  return leadsOut ? undefined : goal.replace(/\/+$/u, "");
}

/** Remembers names as systems do that take upper and lower case, or two ways to write an accent, for the same. */
function createTakenNames(): (path: string, kind: EntryKind) => string | undefined {
  const names = new Map<string, { readonly path: string; readonly kind: EntryKind }>();
  return (path, kind) => {
    const parts = path.split("/");
    for (let length = 1; length <= parts.length; length += 1) {
      const part = parts.slice(0, length).join("/");
      const isWhole = length === parts.length;
      const key = part.normalize("NFC").toLowerCase();
      const known = names.get(key);
      const partKind = isWhole ? kind : "folder";
      if (known === undefined) names.set(key, { path: part, kind: partKind });
      else if (known.path !== part || known.kind !== partKind || (isWhole && kind === "file")) return known.path;
    }
    return undefined;
  };
}

function writeFile(path: string, { bytes, isExecutable }: TreeFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { flag: "wx", mode: isExecutable ? 0o755 : 0o644 });
}

/** A link to a file is that file once more; so nothing on the disk ever leads anywhere. */
function followLink(
  path: string,
  files: ReadonlyMap<string, TreeFile>,
  links: ReadonlyMap<string, string>,
): TreeFile | undefined {
  const seen = new Set<string>();
  for (let place: string | undefined = path; place !== undefined && !seen.has(place); place = links.get(place)) {
    seen.add(place);
    const file = files.get(place);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** Windows reads these as devices, whatever stands behind the dot. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/iu;

const longestPath = 1024;

/**
 * Says what is wrong with the name of an entry: it must be a plain path that stays where it is unpacked, on every system. Nothing if
 * it is right. A slash at the end is for the caller to take off.
 */
export function checkEntryPath(path: string, maxDepth: number): string | undefined {
  if (path === "") return "has no name";
  if (path.length > longestPath) return `has a name of more than ${longestPath} characters`;
  if (/[\0-\x1f\x7f]/u.test(path)) return "has a control character in its name";
  if (!path.isWellFormed() || path.includes("\uFFFD")) return "has a name that is no text";
  if (/^[\\/]|^[A-Za-z]:/u.test(path)) return "has an absolute name";
  if (path.includes("\\")) return "has a backslash in its name";
  const parts = path.split("/");
  if (parts.includes("..")) return "leads out of the folder that it is unpacked to";
  if (parts.some((part) => part === "" || part === ".")) return "has an empty part in its name";
  if (parts.some((part) => deviceName.test(part) || /[. ]$|[:*?"<>|]/u.test(part))) {
    return "has a name that not every system can hold";
  }
  return parts.length - 1 > maxDepth ? `is more than ${maxDepth} folders deep` : undefined;
}

/** How an archive is packed; a tar archive may be in gzip. */
type ArchiveKind = "zip" | "gzip" | "tar";

/** Tells by its first bytes what kind of archive it is; nothing if it is not an archive. */
export function findArchiveKind(bytes: Uint8Array): ArchiveKind | undefined {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return "zip";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "gzip";
  const isTar = new TextDecoder("latin1").decode(bytes.subarray(257, 262)) === "ustar" || bytes.length % 512 === 0;
  return isTar ? "tar" : undefined;
}
