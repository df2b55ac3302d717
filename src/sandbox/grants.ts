import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { extname, isAbsolute, join, relative, resolve } from "node:path";

import { KitbagError } from "../core/errors.ts";
import type { Permissions } from "../core/permissions.ts";
import type { Mount } from "./sandbox.ts";

/** Permissions as a sandbox enforces them. */
export interface Grants {
  readonly mounts: readonly Mount[];
  readonly programs: readonly string[];
  /** The working directory inside: that of the host if something below it was granted. */
  readonly directory: string;
}

/** Where the paths of permissions lead. */
export interface GrantPlaces {
  /** What `./` is. */
  readonly directory: string;
  /** What `~` is. @default the home directory of this user */
  readonly home?: string;
  /** Directories that no tool may change, whatever was granted: ours. */
  readonly protected?: readonly string[];
}

/** The kernel's own, and what every program of this machine trusts. */
const neverGiven = ["/proc", "/sys", "/dev"];
const neverWritten = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/run"];

/** Turns the permissions of a tool into mounts and programs; refuses what cannot be enforced, by name. */
export function toGrants(tool: string, permissions: Permissions, places: GrantPlaces): Grants {
  const reads = (permissions.read ?? []).map((scope) => toMount(tool, "read", scope, places));
  const writes = (permissions.write ?? []).map((scope) => toMount(tool, "write", scope, places));
  const given = mergeMounts([...reads, ...writes].filter((mount) => mount !== undefined));
  const shields = (places.protected ?? []).filter((path) => given.some(({ source }) => isInside(path, source)));
  const inside = given.some(({ target }) => isInside(target, places.directory) || isInside(places.directory, target));
  return {
    mounts: [...given, ...shields.map((path) => ({ source: path, target: path }))],
    programs: permissions.run ?? [],
    directory: inside ? places.directory : "/tmp",
  };
}

function toMount(tool: string, kind: "read" | "write", scope: string, places: GrantPlaces): Mount | undefined {
  const refuse = (reason: string): KitbagError<"permission-refused"> =>
    new KitbagError("permission-refused", { tool, permission: `${kind} = ${JSON.stringify(scope)}`, reason });
  const target = toTarget(scope, places);
  if (target === undefined) {
    throw refuse("a path starts with ./, ~/ or /, and has no *, except /** at its end for all that is below");
  }
  const source = findSource(target, kind === "write" && mayMake(scope));
  if (source === undefined) {
    if (kind === "read") return undefined;
    throw refuse("there is no such file; make it first, or give the directory that it will be in");
  }
  const never = kind === "write" ? [...neverGiven, ...neverWritten] : neverGiven;
  if (source === "/" || never.some((path) => isInside(source, path))) {
    throw refuse("a tool that could use this could leave its sandbox; name a directory of yours");
  }
  return { source, target, granted: true, ...(kind === "write" && { write: true }) };
}

function toTarget(scope: string, { directory, home = homedir() }: GrantPlaces): string | undefined {
  const path = (scope === "." ? "./" : scope).replace(/\/\*\*?$/u, "/");
  if (/[*?\0]/u.test(path)) return undefined;
  if (path === "~" || path.startsWith("~/")) return join(home, path.slice(1)).replace(/(?<=.)\/$/u, "");
  if (!isAbsolute(path) && !/^\.{1,2}(?:\/|$)/u.test(path)) return undefined;
  return resolve(directory, path);
}

/** A directory that a tool will write to need not be there; a single file must, or it could not be mounted. */
function mayMake(scope: string): boolean {
  return scope.endsWith("/") || extname(scope.replace(/\/\*\*?$/u, "")) === "";
}

function findSource(target: string, make: boolean): string | undefined {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined && make) mkdirSync(target, { recursive: true });
  try {
    return realpathSync(target);
  } catch {
    return undefined;
  }
}

/** One mount a place; who may write it may read it. */
function mergeMounts(mounts: readonly Mount[]): Mount[] {
  const merged = new Map<string, Mount>();
  for (const mount of mounts) if (merged.get(mount.target)?.write !== true) merged.set(mount.target, mount);
  return [...merged.values()];
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (!way.startsWith("..") && !isAbsolute(way));
}
