import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  type BigIntStats,
  type Dirent,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";

import { isBelow } from "./find-link-out.ts";
import { isInside, toRealPath } from "../platform/paths.ts";

/** A kind of file or folder that the grant of a folder above it does not open. */
export interface ShieldRow {
  /** Names, and patterns of names. A name that is missing in a project is reserved: see `ReservedPlaces`. */
  readonly names: readonly (string | RegExp)[];
  /** It cannot be read either. @default it can be read, and not changed */
  readonly hidden?: true;
  /** No permission opens it. @default a permission with its exact path does */
  readonly own?: true;
  /** Only a file that has this near its beginning. */
  readonly containing?: RegExp;
  /** Only in a folder of this name, and where that was opened. */
  readonly within?: string;
}

/** All that is shielded by its name. The first row that fits counts. */
export const shieldTable: readonly ShieldRow[] = [
  // Kitbag's own: what was granted, what is configured, what was recorded, and what users made, which may be private. A tool that lies in
  // `.kitbag` sees its own files in a copy, at `/skill`.
  { names: ["kitbag.lock", ...["ts", "mts", "js", "mjs", "json"].map((end) => `kitbag.config.${end}`)], own: true },
  { names: [".kitbag", /^kitbag\.db(?:-\w+)?$/u], own: true, hidden: true },
  // Secrets: variables, keys, passwords and tokens. Examples of variables, and certificates without their key, are no secrets.
  { names: [".env", ".envrc", /^\.env(?!.*\.(?:example|sample|template|dist)$)/u], hidden: true },
  { names: [/^(?!(?:.*[._-])?(?:example|sample|template|dist)\.).+\.env$/u], hidden: true },
  { names: [".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".pgpass", ".pypirc", ".git-credentials"], hidden: true },
  { names: [/^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/u, /\.(?:key|p12|pfx|jks|keystore)$/u], hidden: true },
  { names: [/\.pem$/u], hidden: true, containing: /PRIVATE KEY/u },
  { names: [/^\.npmrc$/u], hidden: true, containing: /_(?:auth|authToken|password)\s*=/u },
  // What git, editors, agents, package managers and shells run, or take orders from.
  { names: [".git", ".gitconfig", ".husky", ".github", ".npmrc"] },
  { names: [".mcp.json", ".claude", ".agents", ".cursor", ".vscode"] },
  { names: [".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases"] },
  {
    names: [".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", /^config\.fish$/u],
  },
  // What git runs, or where it looks for that, in a repository that was opened.
  {
    names: ["config", "config.worktree", /^config/u, "hooks", "info", "modules", "worktrees", "commondir"],
    within: ".git",
  },
];

/** Places that are shielded by their paths, and where those with names are looked for. */
export interface ShieldedPlaces {
  /** What `./` is. */
  readonly directory: string;
  /** What `~` is. @default the home directory of this user */
  readonly home?: string;
  /** Directories that no tool may see, whatever was granted: ours, with secrets and with what other tools run. */
  readonly protected?: readonly string[];
  /** Files and directories that no tool may change, whatever was granted. */
  readonly fixed?: readonly string[];
  /** Files that no tool may see, whatever was granted. */
  readonly hidden?: readonly string[];
}

/** One file or folder that is shielded. */
export interface Shield {
  /** With links resolved. */
  readonly path: string;
  readonly hidden: boolean;
  readonly own: boolean;
}

/** A place that must stay as it is, and that nothing can be mounted on: nothing is there, or a link. */
export interface Reserved {
  readonly path: string;
  /** What a link says; none where nothing is. */
  readonly link?: string;
}

/** What is shielded below a folder. */
export interface FoundShields {
  readonly shields: readonly Shield[];
  readonly reserved: readonly Reserved[];
  /** Named pipes. Who may read one can write to it, even where nothing can be written: it is no part of the disk. */
  readonly pipes: readonly string[];
  /** The folders that were looked through, each with its mark: see {@link markOf}. */
  readonly folders: ReadonlyMap<string, string>;
}

/** Folders that this process loads skills from. They are its own choice, so all of its tools are kept off them. */
const skillFolders = new Set<string>();

/** Shields a folder that skills are loaded from, from now on: who could change it would give orders, and permissions, to itself. */
export function shieldSkills(folder: string): void {
  skillFolders.add(folder);
}

/** How many folders are shielded: it grows when skills of another one are loaded. */
export function countSkillFolders(): number {
  return skillFolders.size;
}

/** How far down folders are looked through, for projects in them; those with installed packages are not. */
const deepest = 3;
const mostFolders = 20_000;
const mostEntries = 500_000;
const passedOver = new Set(["node_modules"]);

/** A folder with so much in it that it cannot be searched for what must be shielded. */
export class TooManyFolders extends Error {}

/** A granted folder that cannot be listed, so it cannot be searched for what must be shielded. */
export class ClosedFolder extends Error {}

/**
 * Finds what is shielded below a folder, to a depth of three, and on the way to the project and to the home directory. A folder that cannot
 * be listed may hold anything, and a tool that knows a name in it can use that, so it is hidden as a whole.
 *
 * @throws {TooManyFolders}
 * @throws {ClosedFolder}
 */
export function findShields(root: string, places: ShieldedPlaces, isOpened: (path: string) => boolean): FoundShields {
  const shields = new Map<string, Shield>();
  const reserved = new Map<string, Reserved>();
  /** Takes a path whose folder has no links on its way. */
  const add = (path: string, kind: Kind, isReserved: boolean): void => {
    const outermost = findClosed(path, root);
    if (outermost !== undefined) return void shields.set(outermost, { path: outermost, hidden: true, own: true });
    const state = stateOf(path);
    if (isReserved && state !== "" && isBelow(path, root)) {
      reserved.set(path, { path, ...(state !== undefined && { link: state }) });
    }
    if (state === undefined) return;
    const real = state === "" ? path : toRealPath(path);
    if (isBelow(real, root) && stateOf(real) === "") shields.set(real, toShield(real, [kind, shields.get(real) ?? {}]));
  };
  const { found, projects, pipes, folders, closed } = searchNames(root, isOpened);
  for (const path of closed) shields.set(path, { path, hidden: true, own: true });
  for (const [path, row] of found) add(path, row, false);
  for (const folder of [...projects, ...foldersBetween(root, places)]) {
    for (const [path, row] of namedIn(folder)) add(path, row, true);
  }
  for (const [path, row] of listPlaces(places)) {
    add(join(toRealPath(dirname(path)), basename(path)), row, row.hidden !== true);
  }
  return { shields: [...shields.values()], reserved: [...reserved.values()], pipes, folders };
}

/** The outermost folder on the way from a granted one to a path that cannot be passed, so it is not known whether the path exists. */
function findClosed(path: string, root: string): string | undefined {
  try {
    lstatSync(path);
    return undefined;
  } catch (cause) {
    if (!isBelow(path, root) || isMissing(cause)) return undefined;
  }
  const names = relative(root, dirname(path)).split(sep);
  const folders = names.map((_, index) => join(root, ...names.slice(0, index + 1)));
  return folders.find((folder) => !canList(folder));
}

/** Whether this user can see what is in a folder. */
export function canList(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One that is named twice has the stricter of both. */
function toShield(path: string, kinds: readonly Kind[]): Shield {
  return { path, hidden: kinds.some(({ hidden }) => hidden === true), own: kinds.some(({ own }) => own === true) };
}

/** What is at a place: nothing, a link with this text, or something else. */
export function stateOf(path: string): string | undefined {
  const found = lookAt(path);
  if (found?.isSymbolicLink() !== true) return found && "";
  try {
    return readlinkSync(path);
  } catch {
    // Another program has replaced the link since.
    return stateOf(path);
  }
}

/** What changes when something is made, moved or removed in a folder. No program can set it to what it was. */
export function markOf(folder: string): string {
  return String(lookAt(folder)?.ctimeNs);
}

/** Nothing if there is nothing, or a folder on the way cannot be passed. */
function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

/**
 * Lets this user list folders again that could be listed before a call: a tool that took this right away would keep us from seeing what it
 * left in them.
 */
export function reopenFolders(folders: FoundShields["folders"]): void {
  for (const [folder, mark] of folders) {
    const facts = markOf(folder) === mark ? undefined : lookAt(folder);
    if (facts?.isDirectory() !== true || canList(folder)) continue;
    if (Number(facts.uid) === process.getuid?.()) chmodSync(folder, (Number(facts.mode) & 0o7777) | 0o500);
  }
}

/** The shields that a path is at, or below: who names it in a permission opens these, as far as they can be opened. */
export function findShieldsAround(path: string, places: ShieldedPlaces): readonly Pick<Shield, "hidden" | "own">[] {
  const { directory, home = homedir() } = places;
  // Where the project itself is says nothing about what is in it.
  const base =
    [directory, toRealPath(directory), home, toRealPath(home), "/"].find((folder) => isInside(path, folder)) ?? "/";
  const names = relative(base, path).split(sep);
  const byName = names.flatMap((name, index) => findRow(name, names[index - 1] ?? basename(base)) ?? []);
  const byPath = listPlaces(places).flatMap(([place, row]) => (isInside(path, toRealPath(place)) ? [row] : []));
  return [...byName, ...byPath].map(({ hidden = false, own = false }) => ({ hidden, own }));
}

interface Kind {
  readonly hidden?: boolean;
  readonly own?: boolean;
}

function listPlaces({ protected: ours = [], fixed = [], hidden = [] }: ShieldedPlaces): [path: string, kind: Kind][] {
  const as = (paths: Iterable<string>, kind: Kind): [string, Kind][] => [...paths].map((path) => [path, kind]);
  return [
    ...as([...ours, ...hidden], { own: true, hidden: true }),
    ...as(fixed, { own: true }),
    ...as(skillFolders, {}),
  ];
}

/** The project, the home directory, and the folders above them as far as they were granted. */
function foldersBetween(root: string, { directory, home = homedir() }: ShieldedPlaces): string[] {
  const folders = new Set<string>();
  for (const start of [directory, home].map(toRealPath)) {
    for (let folder = start; isInside(folder, root); folder = dirname(folder)) {
      folders.add(folder);
      if (folder === root) break;
    }
  }
  return [...folders];
}

/** All places in a folder that have an exact name. */
function namedIn(folder: string): [path: string, row: ShieldRow][] {
  const within = basename(folder) === ".git" ? ".git" : undefined;
  return shieldTable
    .filter((row) => row.within === within)
    .flatMap((row) =>
      row.names.flatMap((name): [string, ShieldRow][] => (typeof name === "string" ? [[join(folder, name), row]] : [])),
    );
}

interface Named {
  readonly found: ReadonlyMap<string, ShieldRow>;
  /** Folders with files of ours, or a repository, and repositories that were opened. */
  readonly projects: ReadonlySet<string>;
  readonly pipes: readonly string[];
  readonly folders: ReadonlyMap<string, string>;
  /** Folders that cannot be listed. */
  readonly closed: readonly string[];
}

function searchNames(root: string, isOpened: (path: string) => boolean): Named {
  const found = new Map<string, ShieldRow>();
  const projects = new Set<string>();
  const pipes: string[] = [];
  const folders = new Map<string, string>();
  const closed: string[] = [];
  let seen = 0;
  const list = (folder: string): readonly Dirent[] => {
    const entries = listFolder(folder, mostEntries - seen);
    if (entries === undefined) closed.push(folder);
    seen += entries?.length ?? 0;
    if (seen >= mostEntries) throw new TooManyFolders(root);
    return entries ?? [];
  };
  const search = (folder: string, depth: number): void => {
    if (folders.size >= mostFolders) throw new TooManyFolders(root);
    folders.set(folder, markOf(folder));
    const isRepository = basename(folder) === ".git";
    if (isRepository) projects.add(folder);
    for (const entry of list(folder)) {
      const path = `${folder}/${entry.name}`;
      const row = findRow(entry.name, isRepository ? ".git" : "", path);
      if (row !== undefined) found.set(path, row);
      if (entry.isFIFO()) pipes.push(path);
      if (isOfProject(entry.name, row)) projects.add(folder);
      if (entry.isDirectory() && !isRepository && isSearched(path, row, depth)) search(path, depth + 1);
    }
  };
  const isSearched = (path: string, row: ShieldRow | undefined, depth: number): boolean => {
    if (row?.hidden === true) return false;
    return basename(path) === ".git" ? isOpened(path) : depth < deepest && !passedOver.has(basename(path));
  };
  search(root, 0);
  if (closed.includes(root)) throw new ClosedFolder(root);
  return { found, projects, pipes, folders, closed };
}

/** A store may be anywhere: it makes no project of its folder. */
function isOfProject(name: string, row: ShieldRow | undefined): boolean {
  return name === ".git" || (row?.own === true && row.names.includes(name.toLowerCase()));
}

/** What is in a folder, as far as `most`: nothing if it was removed, undefined if that cannot be seen. */
function listFolder(folder: string, most: number): Dirent[] | undefined {
  try {
    // Names alone do not say what is there.
    return canList(folder) ? readEntries(folder, most) : undefined;
  } catch (cause) {
    return isMissing(cause) ? [] : undefined;
  }
}

/** Not all at once: a folder may have millions of entries. */
function readEntries(folder: string, most: number): Dirent[] {
  const directory = opendirSync(folder, { bufferSize: 256 });
  const entries: Dirent[] = [];
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (entries.push(entry) >= most) break;
    }
    return entries;
  } finally {
    directory.closeSync();
  }
}

function isMissing(cause: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(String((cause as NodeJS.ErrnoException).code));
}

/** The row of a name in a folder. Without its path, a file counts as one that contains what it is shielded for. */
function findRow(name: string, folder: string, path?: string): ShieldRow | undefined {
  // Some file systems do not tell these apart.
  const lower = name.toLowerCase();
  return shieldTable.find(
    ({ names, within, containing }) =>
      (within === undefined || within === folder) &&
      names.some((one) => (typeof one === "string" ? one === lower : one.test(lower))) &&
      (containing === undefined || path === undefined || contains(path, containing)),
  );
}

const lookedAtBytes = 64 * 1024;

/** Whether a file has a text near its beginning; one that cannot be read may have it. */
function contains(path: string, text: RegExp): boolean {
  let descriptor: number | undefined;
  try {
    // A pipe must not hold this process up.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(lookedAtBytes);
    return text.test(bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, lookedAtBytes, 0)));
  } catch {
    return true;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
