import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { toDigest } from "../../platform/digest.ts";
import { describeFileError, describeForeignOwner, writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { usageError } from "../cli-command.ts";
import type { ClientRow, ConnectScope, Machine } from "./clients.ts";

/** The configuration file of a client, as it is now. */
export interface ClientFile {
  /** Where the client looks. */
  readonly path: string;
  /** Where the bytes are: behind links. */
  readonly real: string;
  /** Nothing if there is no file. */
  readonly text: string | undefined;
  /** The permissions of the file. */
  readonly mode: number;
}

/** The largest file that is read: Claude Code keeps much more than servers in its own. */
const maxBytes = 64 * 1024 * 1024;

/**
 * The file of a client, in a project or of the user.
 *
 * @throws {KitbagError} `usage-invalid` if the client has no file of this scope.
 */
export function findClientFile(row: ClientRow, scope: ConnectScope, project: string, machine: Machine): string {
  if (scope === "user") {
    const paths = row.user(machine).map((path) => resolve(path));
    return (
      paths.find((path) => existsSync(path)) ?? paths.find((path) => existsSync(dirname(path))) ?? (paths[0] as string)
    );
  }
  if (row.project === undefined) {
    throw usageError(
      `Cannot connect ${row.title} for a project: it has one file for the user; leave out --scope project`,
    );
  }
  const paths = row.project.map((path) => join(project, ...path.split("/")));
  return paths.find((path) => existsSync(path)) ?? (paths[0] as string);
}

/**
 * Reads a client's file. A link is followed; in a project only to a file of the project, which a repository of others may not leave.
 *
 * @throws {KitbagError} `config-invalid` if it is no plain file, of another user, too large, or not UTF-8.
 */
export function readClientFile(path: string, project?: string): ClientFile {
  const refuse = (reason: string): never => {
    throw new KitbagError("config-invalid", { path, reason: `${reason}; it was left as it is` });
  };
  let real: string;
  let mode: number;
  try {
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    real = isThere ? realpathSync.native(path) : toRealPath(path);
    if (project !== undefined && !isInside(real, toRealPath(project))) {
      return refuse("a link leads out of the project");
    }
    if (!isThere) return { path, real, text: undefined, mode: project === undefined ? 0o600 : 0o644 };
    const status = statSync(real);
    if (!status.isFile()) return refuse("it is not a file");
    const foreign = describeForeignOwner(status);
    if (foreign !== undefined) return refuse(foreign);
    mode = status.mode & 0o777;
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    return refuse(describeFileError(cause));
  }
  const read = readRegularFile(real, { maxBytes, mustBe: real });
  if (!read.ok) return refuse(read.reason);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read.bytes);
    return { path, real, text, mode };
  } catch {
    return refuse("it is not UTF-8");
  }
}

/** Where backups are: in Kitbag's home, because a client's file often holds secrets, and a project is shared. */
export function backUp({ real, text }: ClientFile, home: string): string | undefined {
  if (text === undefined) return undefined;
  const folder = join(home, "connect");
  makeHomeFolder(folder, home);
  const time = new Date().toISOString().replaceAll(/[:.]/gu, "-");
  const place = join(folder, `${toDigest(Buffer.from(real)).slice(-8)}-${time}-${basename(real)}`);
  writeFileAtomically(place, text);
  return place;
}

/**
 * Writes a client's file whole, with the permissions that it had.
 *
 * @throws {KitbagError} `config-invalid` if it was changed since it was read, or cannot be written.
 */
export function writeClientFile(file: ClientFile, text: string, project?: string): void {
  if (readClientFile(file.path, project).text !== file.text) {
    const reason = "another program changed it meanwhile; run the command again";
    throw new KitbagError("config-invalid", { path: file.path, reason });
  }
  try {
    mkdirSync(dirname(file.real), { recursive: true });
    writeFileAtomically(file.real, text, { mode: file.mode });
    // The mask of the process may have taken away more.
    chmodSync(file.real, file.mode);
  } catch (cause) {
    throw new KitbagError("config-invalid", { path: file.path, reason: describeFileError(cause) }, { cause });
  }
}
