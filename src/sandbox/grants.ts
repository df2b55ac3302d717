import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from "node:path";

import { KitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import { findLinkOut, isInside } from "./find-link-out.ts";
import { isRoot } from "./host.ts";
import { emptyFile, nothing, type Mount } from "./sandbox.ts";

/** Permissions as a sandbox enforces them. */
export interface Grants {
  readonly mounts: readonly Mount[];
  readonly programs: readonly string[];
  /** The working directory inside: that of the host if something below it was granted. */
  readonly directory: string;
  /** Where `~` is what it is on the host, if something of it was granted: `HOME`. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where the paths of permissions lead. */
export interface GrantPlaces {
  /** What `./` is. */
  readonly directory: string;
  /** What `~` is. @default the home directory of this user */
  readonly home?: string;
  /** Directories that no tool may see, whatever was granted: ours, with secrets and with what other tools run. */
  readonly protected?: readonly string[];
  /** Files and directories that no tool may change, whatever was granted, if they are there; see `ReservedPlaces` for those that are not. */
  readonly fixed?: readonly string[];
  /** Files that no tool may see, whatever was granted, if they are there. */
  readonly hidden?: readonly string[];
}

/** The kernel's own, and the sockets of services, which can be used without the right to write. */
const neverGiven = ["/proc", "/sys", "/dev", "/run"];
/** What every program of this machine trusts. */
const neverWritten = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot"];
/** What a sandbox has of its own at these places must not be covered, or be made on the host. */
const ownPlaces = ["/opt/kitbag", "/opt/node", "/opt/packages", "/skill", "/node_modules", "/tmp"];

type Kind = "read" | "write";

/** Turns the permissions of a tool into mounts and programs; refuses what cannot be enforced, by name. */
export function toGrants(tool: string, permissions: Permissions, places: GrantPlaces): Grants {
  const toMounts = (kind: Kind): Mount[] =>
    (permissions[kind] ?? []).flatMap((scope) => toMount({ tool, kind, scope }, places) ?? []);
  const given = mergeMounts([...toMounts("read"), ...toMounts("write")]);
  const inside = given.some(({ target }) => isInside(target, places.directory) || isInside(places.directory, target));
  return {
    mounts: [...given, ...given.flatMap((mount) => toShields(mount, places))],
    programs: permissions.run ?? [],
    directory: inside ? places.directory : "/tmp",
    environment: toEnvironment(permissions, places),
  };
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

/** What no tool may change and is not there, so that nothing can be put over it: a tool with these permissions could make it. */
export function findUncovered({ write = [] }: Permissions, places: GrantPlaces): string[] {
  const written = write.flatMap((scope) => toTarget(scope, places) ?? []).map(toReal);
  if (written.length === 0) return [];
  const fixed = (places.fixed ?? []).map(toReal).filter((path) => written.some((place) => isBelow(path, place)));
  return [...new Set(fixed)].filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
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

function toMount(asked: Asked, places: GrantPlaces): Mount | undefined {
  const { kind, scope } = asked;
  const target = toTarget(scope, places);
  if (target === undefined) {
    throw refuse(asked, "a path starts with ./, ~/ or /, and has no *, except /** at its end for all that is below");
  }
  const { source, exists } = findSource(target);
  const never = kind === "write" ? [...neverGiven, ...neverWritten] : neverGiven;
  if ([source, target].some((path) => path === "/" || never.some((place) => isInside(path, place)))) {
    throw refuse(asked, "a tool that could use this could leave its sandbox; name a directory of yours");
  }
  checkOwnPlaces(asked, target);
  checkOwnFiles(asked, source, places);
  checkLink(asked, target, places);
  if (!exists && kind === "read") return undefined;
  if (!exists && !mayMake(scope)) {
    throw refuse(asked, "there is no such file; make it first, or give the directory that it will be in");
  }
  if (!exists) makeDirectory(asked, source);
  return { source, target, granted: true, ...(kind === "write" && { write: true }) };
}

/**
 * What is granted of the project, or from there on, is what is there, and not what a link says that a tool has left on the way. Any
 * other path is one of the machine, with its links.
 */
function checkLink(asked: Asked, target: string, { directory }: GrantPlaces): void {
  const base = [directory, toReal(directory)].find((place) => isInside(target, place));
  if (base === undefined && !asked.scope.startsWith(".")) return;
  const found = findLinkOut(base ?? directory, target);
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

function checkOwnFiles(asked: Asked, source: string, places: GrantPlaces): void {
  const { protected: own = [], hidden = [], fixed = [] } = places;
  const closed = asked.kind === "write" ? [...own, ...hidden, ...fixed] : [...own, ...hidden];
  if (closed.some((path) => isInside(source, toReal(path)))) {
    throw refuse(asked, "Kitbag keeps its own files there; name another directory");
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

/** A directory that a tool will write to need not be there; a single file must, or it could not be mounted. */
function mayMake(scope: string): boolean {
  return scope.endsWith("/") || extname(scope.replace(/\/\*\*?$/u, "")) === "";
}

/** Where a path really leads, as far as it is there: links of those above it are followed before anything is made. */
function findSource(target: string): { source: string; exists: boolean } {
  try {
    return { source: realpathSync(target), exists: true };
  } catch {
    return { source: join(findSource(dirname(target)).source, basename(target)), exists: false };
  }
}

/** One mount a place; who may write it may read it, and all that is below, so nothing below is mounted on its own. */
function mergeMounts(mounts: readonly Mount[]): Mount[] {
  const merged = new Map<string, Mount>();
  for (const mount of mounts) if (merged.get(mount.target)?.write !== true) merged.set(mount.target, mount);
  const all = [...merged.values()];
  // A tool could put a link in the place of something below, and have what it leads to mounted by the next call.
  return all.filter(({ target }) => !all.some((other) => other.write === true && isBelow(target, other.target)));
}

function toShields({ source, target, write }: Mount, places: GrantPlaces): Mount[] {
  const below = (paths: readonly string[] | undefined): string[] =>
    (paths ?? []).map(toReal).filter((path) => isBelow(path, source));
  const place = (path: string): string => join(target, relative(source, path));
  const hidden = below(places.protected).map((path) => {
    // What is not there yet could be made by the tool.
    if (write === true) mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  });
  const isHidden = (path: string): boolean => hidden.some((place) => isInside(path, place));
  const fixed = write === true ? below(places.fixed) : [];
  const files = below(places.hidden).filter((path) => !isHidden(path) && existsSync(path));
  const isLocked = (path: string): boolean => isLockedAway(path, fixed);
  const shield = (paths: readonly string[], toSource: (path: string) => string): Mount[] =>
    paths.filter((path) => existsSync(path)).map((path) => ({ source: toSource(path), target: place(path) }));
  return [
    ...shield(hidden, () => nothing),
    ...shield(
      fixed.filter((path) => !isHidden(path)),
      (path) => path,
    ),
    ...shield([...new Set(files.filter(isLocked).map(dirname))], () => nothing),
    ...shield(
      files.filter((path) => !isLocked(path)),
      () => emptyFile,
    ),
  ];
}

/**
 * Whether a file is fixed in a directory that only root may pass. Whom programs run as could not cover a single file in it, so all
 * of it is hidden.
 */
function isLockedAway(path: string, fixed: readonly string[]): boolean {
  return isRoot && fixed.some((place) => isBelow(path, place)) && (statSync(dirname(path)).mode & 0o001) === 0;
}

/** Where a path really leads, as far as it is there. */
export function toReal(path: string): string {
  return findSource(path).source;
}

function isBelow(path: string, directory: string): boolean {
  return path !== directory && isInside(path, directory);
}
