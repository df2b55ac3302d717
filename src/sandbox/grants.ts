import { existsSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, resolve } from "node:path";

import { KitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import { coverShields, type Covered, type Opened } from "./cover-shields.ts";
import { findLinkOut, isBelow } from "./find-link-out.ts";
import { isInside, toRealPath } from "../platform/paths.ts";
import { nothing, type Mount } from "./sandbox.ts";
import {
  canList,
  ClosedFolder,
  countSkillFolders,
  markOf,
  findShieldsAround,
  reopenFolders,
  stateOf,
  TooManyFolders,
  type Reserved,
  type ShieldedPlaces,
} from "./shields.ts";

/** Permissions as a sandbox enforces them. */
export interface Grants {
  readonly mounts: readonly Mount[];
  /** See `sealed` of a profile: the way to the project and to what was granted, as far as it is in `/tmp`. */
  readonly sealed: readonly string[];
  readonly programs: readonly string[];
  /** The working directory inside: that of the host if something below it was granted. */
  readonly directory: string;
  /** Where `~` is what it is on the host, if something of it was granted: `HOME`. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the tool could make or change although it is shielded, because nothing can be mounted on it. */
  readonly reserved: readonly Reserved[];
  /** The folders that were looked through for what is shielded, each with its mark. */
  readonly folders: ReadonlyMap<string, string>;
}

/** Where the paths of permissions lead. */
export type GrantPlaces = ShieldedPlaces;

/** The kernel's own, and the sockets of services, which can be used without the right to write. */
const neverGiven = ["/proc", "/sys", "/dev", "/run"];
/** What every program of this machine trusts. */
const neverWritten = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot"];
/** What a sandbox has of its own at these places must not be covered, or be made on the host. */
const ownPlaces = ["/opt/kitbag", "/opt/node", "/opt/packages", "/skill", "/node_modules", "/tmp"];

/** Whether a sandbox has files of its own at a place or below it. */
export function hasOwnPlaceIn(path: string): boolean {
  return ownPlaces.some((place) => isInside(place, path));
}

type Kind = "read" | "write";

/** Whether a path is the kernel's own, or one to write is what every program trusts: no tool is given such a place. */
export function isNeverGiven(kind: Kind, path: string): boolean {
  const never = kind === "write" ? [...neverGiven, ...neverWritten] : neverGiven;
  return path === "/" || never.some((place) => isInside(path, place));
}

/** How many shields a permission opens by naming them, or something in them. */
export function countOpened(kind: Kind, scope: string, places: GrantPlaces): number {
  const target = toTarget(scope, places);
  return target === undefined ? 0 : findOpened({ kind }, toRealPath(target), places).length;
}

/** The shields that are in the way of using a path: those that hide it, and of one to write all. */
export function findOpened(
  { kind }: Pick<Asked, "kind">,
  path: string,
  places: GrantPlaces,
): ReturnType<typeof findShieldsAround> {
  return findShieldsAround(path, places).filter(({ hidden }) => hidden || kind === "write");
}

/** Turns the permissions of a tool into mounts and programs; refuses what cannot be enforced, by name. */
export function toGrants(tool: string, permissions: Permissions, places: GrantPlaces): Grants {
  const toMounts = (kind: Kind): Mount[] =>
    (permissions[kind] ?? []).flatMap((scope) => toMount({ tool, kind, scope }, places) ?? []);
  const [read, write] = [toMounts("read"), toMounts("write")];
  const given = mergeMounts([...read, ...write]);
  const opened = { read: new Set(read.map(({ source }) => source)), write: new Set(write.map(({ source }) => source)) };
  const { mounts, reserved, folders } = cover({ tool, given, opened }, places);
  const inside = given.some(({ target }) => isInside(target, places.directory) || isInside(places.directory, target));
  return {
    mounts,
    sealed: findSealed(
      given.map(({ target }) => target),
      places,
    ),
    programs: permissions.run ?? [],
    directory: inside ? places.directory : "/tmp",
    environment: toEnvironment(permissions, places),
    reserved,
    folders,
  };
}

/** The outermost folders of `/tmp` on the way to what was granted and to the project; one that was granted itself is mounted anyway. */
function findSealed(granted: readonly string[], { directory }: GrantPlaces): string[] {
  const folders = new Set([directory, ...granted].flatMap((path) => /^\/tmp\/[^/]+/u.exec(path)?.[0] ?? []));
  return [...folders].filter((folder) => !granted.includes(folder));
}

interface Given {
  readonly tool: string;
  readonly given: readonly Mount[];
  readonly opened: Opened;
}

function cover({ tool, given, opened }: Given, places: GrantPlaces): Covered {
  const refused = (permission: string, reason: string): KitbagError =>
    new KitbagError("permission-refused", { tool, permission, reason });
  let covered: Covered;
  try {
    covered = coverShields(given, opened, places);
  } catch (cause) {
    if (cause instanceof ClosedFolder) {
      const cure = `make it readable for your user (chmod u+rx ${JSON.stringify(cause.message)}), or name another one`;
      throw refused(cause.message, `it cannot be listed, so what must be shielded in it cannot be found; ${cure}`);
    }
    if (!(cause instanceof TooManyFolders)) throw cause;
    throw refused(
      cause.message,
      "it has too many files and folders to look for what must be shielded; name a smaller one",
    );
  }
  const hidden = covered.mounts.filter(({ source }) => source === nothing).map(({ target }) => target);
  const behind = covered.mounts.find(({ target }) => hidden.some((folder) => isBelow(target, folder)));
  if (behind === undefined) return covered;
  throw refused(behind.target, "it is in a hidden folder; name that folder itself, or grant none that it is in");
}

/** Grants that were made before, by their permissions. */
const known = new WeakMap<GrantPlaces, WeakMap<Permissions, Known>>();

interface Known {
  readonly grants: Grants;
  /** As they were when they were looked through last. */
  readonly folders: Grants["folders"];
  readonly skillFolders: number;
  readonly hidden: string;
}

/**
 * As {@link toGrants}, but looks through folders only once, and again when something was made, moved or removed in one of them, something
 * that could not be covered is there, a hidden file is elsewhere, or skills are loaded from another folder. The same object as before if
 * nothing else is covered.
 */
export function findGrants(tool: string, permissions: Permissions, places: GrantPlaces): Grants {
  const all = known.get(places) ?? new WeakMap<Permissions, Known>();
  known.set(places, all);
  const before = all.get(permissions);
  // Another tool may have put a link in the place of what was granted.
  if (before !== undefined) checkLinks(tool, permissions, places);
  if (before !== undefined && isCurrent(before, places)) return before.grants;
  const hidden = findHidden(places);
  const made = toGrants(tool, permissions, places);
  const grants = before !== undefined && isSame(before.grants, made) ? before.grants : made;
  all.set(permissions, { grants, folders: made.folders, skillFolders: countSkillFolders(), hidden });
  return grants;
}

function isSame(one: Grants, other: Grants): boolean {
  return JSON.stringify([one.mounts, one.reserved]) === JSON.stringify([other.mounts, other.reserved]);
}

/**
 * What a tool has made that would be shielded if it had been there: a repository in a folder, settings of an editor, a `.kitbag`, a folder
 * that cannot be listed. Files with secrets are not among it.
 */
export function findPlanted(tool: string, permissions: Permissions, places: GrantPlaces, before: Grants): string[] {
  if ((permissions.write ?? []).length === 0) return [];
  reopenFolders(known.get(places)?.get(permissions)?.folders ?? before.folders);
  const now = findGrants(tool, permissions, places);
  const covered = new Set(before.mounts.map(({ target }) => target));
  return now.mounts
    .filter(({ target, granted }) => granted !== true && !covered.has(target))
    .map(({ source, shields = source }) => ({ source, path: shields }))
    .filter(({ source, path }) => isAbsolute(source) || (source === nothing && (isOwn(path, places) || !canList(path))))
    .map(({ path }) => path);
}

function isOwn(path: string, places: GrantPlaces): boolean {
  return findShieldsAround(path, places).some(({ own }) => own);
}

/** Which hidden files are there, with links resolved: one may be deeper than folders are looked through, or behind a link. */
function findHidden({ hidden = [] }: GrantPlaces): string {
  return JSON.stringify(hidden.map(toRealPath).filter((path) => stateOf(path) !== undefined));
}

function isCurrent({ grants, folders, skillFolders, hidden }: Known, places: GrantPlaces): boolean {
  return (
    folders.entries().every(([folder, mark]) => markOf(folder) === mark) &&
    skillFolders === countSkillFolders() &&
    hidden === findHidden(places) &&
    grants.reserved.every(({ path, link }) => stateOf(path) === link) &&
    grants.mounts.every(({ source, shields = source }) => stateOf(shields) !== undefined)
  );
}

/**
 * Refuses what a tool was granted before and now leads elsewhere, because a link was put on the way since.
 *
 * @throws {KitbagError} `permission-refused`
 */
export function checkLinks(tool: string, { read = [], write = [] }: Permissions, places: GrantPlaces): void {
  for (const [kind, scopes] of [["read", read] as const, ["write", write] as const]) {
    for (const scope of scopes) {
      const target = toTarget(scope, places);
      if (target !== undefined) checkLink({ tool, kind, scope }, target, places);
    }
  }
}

/** A tool that was given a part of `~` finds it under that name; otherwise its home is its own. */
function toEnvironment(
  { read = [], write = [] }: Permissions,
  { home = homedir() }: GrantPlaces,
): Grants["environment"] {
  return [...read, ...write].some((scope) => /^~(?:\/|$)/u.test(scope)) ? { HOME: home } : {};
}

interface Asked {
  readonly tool: string;
  readonly kind: Kind;
  readonly scope: string;
}

/**
 * Says whether the permissions `read` and `write` would be enforced, as {@link toGrants} does, but looks at nothing that has to be there
 * and makes nothing.
 *
 * @throws {KitbagError} `permission-refused`
 */
export function checkScopes(tool: string, { read = [], write = [] }: Permissions, places: GrantPlaces): void {
  for (const scope of read) checkScope({ tool, kind: "read", scope }, places);
  for (const scope of write) checkScope({ tool, kind: "write", scope }, places);
}

function toMount(asked: Asked, places: GrantPlaces): Mount | undefined {
  const { kind, scope } = asked;
  const { source, target } = checkScope(asked, places);
  const exists = existsSync(source);
  if (!exists && kind === "read") return undefined;
  if (kind === "read" && statSync(source).isFIFO()) {
    throw refuse(asked, "it is a named pipe, and a tool that may read it can write to it; name it in write instead");
  }
  if (!exists && !mayMake(scope)) {
    throw refuse(asked, missingFile);
  }
  if (!exists) makeDirectory(asked, source);
  return { source, target, granted: true, ...(kind === "write" && { write: true }) };
}

/** Where a scope leads, if it may be granted. */
function checkScope(asked: Asked, places: GrantPlaces): Pick<Mount, "source" | "target"> {
  const { kind, scope } = asked;
  const target = toTarget(scope, places);
  if (target === undefined) {
    throw refuse(asked, "a path starts with ./, ~/ or /, and has no *, except /** at its end for all that is below");
  }
  const source = toRealPath(target);
  if ([source, target].some((path) => isNeverGiven(kind, path))) {
    throw refuse(asked, "a tool that could use this could leave its sandbox; name a directory of yours");
  }
  checkOwnPlaces(asked, target);
  checkShields(asked, source, places);
  checkLink(asked, target, places, source);
  return { source, target };
}

const missingFile =
  "there is no such file; make it first, or give the folder that it will be in (a folder that is missing ends with /)";

/**
 * What is granted of the project, or from there on, is what is there, and not what a link says that a tool has left on the way. Any
 * other path is one of the machine, with its links.
 */
function checkLink(asked: Asked, target: string, { directory }: GrantPlaces, source?: string): void {
  const base = [directory, toRealPath(directory)].find((place) => isInside(target, place));
  if (base === undefined && !asked.scope.startsWith(".")) return;
  const found = findLinkOut(base ?? directory, target, source);
  if (found === undefined) return;
  const { link, target: leadsTo } = found;
  if (leadsTo === undefined) throw refuse(asked, `${link} is a link that leads nowhere; remove it`);
  const cure = "remove the link, or name the place itself";
  throw refuse(
    asked,
    `${link} is a link that leads out of its folder, to ${leadsTo}, and a tool may have put it there; ${cure}`,
  );
}

function makeDirectory(asked: Asked, path: string): void {
  // A link that leads nowhere would be followed to wherever it says.
  const isLink = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  try {
    if (!isLink) mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw refuse(asked, `it cannot be made: ${(cause as Error).message}`);
  }
  if (isLink) throw refuse(asked, "it is a link that leads nowhere; remove it");
}

function refuse({ tool, kind, scope }: Asked, reason: string): KitbagError<"permission-refused"> {
  return new KitbagError("permission-refused", { tool, permission: `${kind} = ${JSON.stringify(scope)}`, reason });
}

/** Refuses what no permission opens; and what is shielded, if the permission names only the whole project and not that place. */
function checkShields(asked: Asked, source: string, places: GrantPlaces): void {
  const closed = findOpened(asked, source, places);
  if (closed.some(({ own }) => own)) throw refuse(asked, "Kitbag keeps its own files there; name another directory");
  if (closed.length > 0 && /^\.(?:\/\*{0,2})?$/u.test(asked.scope)) {
    throw refuse(
      asked,
      "skills are loaded from this folder; name the folder in it that the tool needs, such as ./out/",
    );
  }
}

function checkOwnPlaces(asked: Asked, target: string): void {
  const own = ownPlaces.find((place) => isInside(place, target) || (place !== "/tmp" && isInside(target, place)));
  if (own === undefined) return;
  const reason =
    own === "/tmp"
      ? "every tool has a /tmp of its own; name a directory below it"
      : `a sandbox has its own files at ${own}; name another directory`;
  throw refuse(asked, reason);
}

/** The place that a scope names, whether it is there or not; nothing if it names none. */
export function toTarget(scope: string, { directory, home = homedir() }: GrantPlaces): string | undefined {
  const path = (scope === "." ? "./" : scope).replace(/\/\*\*?$/u, "/");
  if (/[*?\0]/u.test(path)) return undefined;
  if (path === "~" || path.startsWith("~/")) return resolve(home, `.${path.slice(1)}`);
  if (!isAbsolute(path) && !/^\.{1,2}(?:\/|$)/u.test(path)) return undefined;
  return resolve(directory, path);
}

/**
 * A folder that a tool will write to need not be there; a single file must, or it could not be mounted. Without a `/` at the end,
 * a name with a dot is a file's (`report.json`, `.env`), and so is one such as `Makefile`.
 */
function mayMake(scope: string): boolean {
  return /\/\*{0,2}$/u.test(scope) || !/\.|^[A-Z][a-z]+file$/u.test(basename(scope));
}

/** One mount a place: who may write it may read it. */
function mergeMounts(mounts: readonly Mount[]): Mount[] {
  const merged = new Map<string, Mount>();
  for (const mount of mounts) if (merged.get(mount.target)?.write !== true) merged.set(mount.target, mount);
  return [...merged.values()];
}
