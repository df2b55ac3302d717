import { dirname, relative } from "node:path";

import { fromScopes, type Permissions } from "../../core/permissions.ts";
import { isInside } from "../../platform/paths.ts";
import type { Attempt } from "./learn-report.ts";

/** Where paths are written from. */
export interface ProposalPlaces {
  readonly directory: string;
  readonly home: string;
  readonly exists: (path: string) => boolean;
  readonly isDirectory: (path: string) => boolean;
}

/** The least that lets a script do what it tried, and what to know about it. */
export interface Proposal {
  readonly permissions: Permissions;
  readonly notes: readonly string[];
}

/** From so many files of one directory on, the directory is proposed. */
const manyFiles = 3;

/** Proposes the smallest permissions that cover what was tried. */
export function proposePermissions(attempts: readonly Attempt[], places: ProposalPlaces): Proposal {
  const notes: string[] = [];
  const written = dropCovered(toWritten(attempts, places, notes));
  const read = dropCovered(joinFiles(toRead(attempts), places)).filter(
    (path) => !written.some((place) => isInside(path, place)),
  );
  const permissions = fromScopes({
    read: toScopes(read, places, notes),
    write: toScopes(written, places, notes),
    network: namesOf(attempts, "network"),
    env: namesOf(attempts, "env"),
    run: namesOf(attempts, "run"),
  });
  return { permissions, notes };
}

function namesOf(attempts: readonly Attempt[], kind: Attempt["kind"]): string[] {
  return [...new Set(attempts.filter((attempt) => attempt.kind === kind).map(({ what }) => what))].toSorted();
}

function toRead(attempts: readonly Attempt[]): { path: string; lists: boolean }[] {
  return attempts.filter(({ kind }) => kind === "read").map(({ what, lists = false }) => ({ path: what, lists }));
}

/** Several files of one directory become the directory; never the working directory or the home themselves. */
function joinFiles(
  read: readonly { path: string; lists: boolean }[],
  { directory, home, isDirectory }: ProposalPlaces,
): string[] {
  const directories = read.filter(({ path, lists }) => lists || isDirectory(path)).map(({ path }) => `${path}/`);
  const files = read.filter(({ path, lists }) => !lists && !isDirectory(path)).map(({ path }) => path);
  const byDirectory = Map.groupBy(files, (path) => dirname(path));
  const joined = [...byDirectory].flatMap(([parent, paths]) => {
    const isWide = isInside(directory, parent) || isInside(home, parent);
    return paths.length >= manyFiles && !isWide ? [`${parent}/`] : paths;
  });
  return [...directories, ...joined];
}

/**
 * A file that is not there yet cannot be granted: its directory is. A directory can: it is made before the tool starts. A new file in the
 * working directory itself needs no grant, because every call keeps such files: a grant would open the whole project.
 */
function toWritten(
  attempts: readonly Attempt[],
  { directory, exists, isDirectory }: ProposalPlaces,
  notes: string[],
): string[] {
  return attempts
    .filter(({ kind }) => kind === "write")
    .flatMap(({ what, makes }) => {
      if (exists(what)) return isDirectory(what) ? `${what}/` : what;
      if (makes === true) {
        notes.push(
          `${what} is not there yet: it will be made before the tool starts, and be there when the tool makes it`,
        );
        return `${what}/`;
      }
      const parent = dirname(what);
      if (parent === directory) {
        notes.push(
          `${what} needs no grant: a call shows the files that the tool makes in its working directory, and kitbag call --keep saves them here`,
        );
        return [];
      }
      notes.push(`${what} is not there yet, so its directory is proposed: the tool could change everything in it`);
      return `${parent}/`;
    });
}

function dropCovered(paths: readonly string[]): string[] {
  const all = [...new Set(paths)];
  return all.filter((path) => !all.some((other) => other !== path && other.endsWith("/") && isInside(path, other)));
}

function toScopes(paths: readonly string[], places: ProposalPlaces, notes: string[]): string[] {
  return paths.map((path) => toScope(path, places, notes)).toSorted();
}

function toScope(path: string, { directory, home }: ProposalPlaces, notes: string[]): string {
  const end = path.endsWith("/") ? "/" : "";
  if (isInside(path, directory)) return `./${relative(directory, path)}${relative(directory, path) === "" ? "" : end}`;
  if (isInside(path, home) && relative(home, path) !== "") return `~/${relative(home, path)}${end}`;
  notes.push(`${path} is outside of the working directory and the home`);
  return path;
}
