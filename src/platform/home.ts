import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

import { KitbagError, quote } from "../core/errors.ts";
import { showValue } from "../core/json.ts";

/**
 * The folder of the user's own Kitbag files: `KITBAG_HOME`, or `~/.kitbag`.
 *
 * @throws {KitbagError} `option-invalid` if `KITBAG_HOME` or `HOME` is not an absolute path: a relative or empty one would let every
 *   project bring its own list of trusted files.
 */
export function resolveKitbagHome(env: Readonly<Record<string, string | undefined>>): string {
  const home = findHome();
  const given = env["KITBAG_HOME"];
  if (given === undefined) return join(home, ".kitbag");
  if (isAbsolute(given)) return given;
  throw new KitbagError("option-invalid", {
    option: "KITBAG_HOME",
    found: showValue(given),
    expected: "an absolute path",
  });
}

function findHome(): string {
  const expected = "the absolute path of a home directory";
  let home: string;
  try {
    home = homedir();
  } catch (cause) {
    // The user of a container often has no entry in the list of users.
    throw new KitbagError("option-invalid", { option: "HOME", found: "nothing", expected }, { cause });
  }
  if (isAbsolute(home)) return home;
  throw new KitbagError("option-invalid", { option: "HOME", found: showValue(home), expected });
}

/**
 * Makes Kitbag's home, or a folder of it, for its owner alone, unless it is there. `home` is what the message names.
 *
 * @throws {KitbagError} `home-unusable` if there can be no such folder, or it cannot be written.
 */
export function makeHomeFolder(folder: string, home: string = folder): void {
  refuseForeignHome(home);
  try {
    makeFolders(folder);
    allow(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KitbagError("home-unusable", { home, reason }, { cause });
  }
}

/**
 * Refuses a home that belongs to another user and that this user may not enter: two users who share `HOME` or `KITBAG_HOME`.
 *
 * @throws {KitbagError} `home-unusable`
 */
export function refuseForeignHome(home: string): void {
  const me = process.getuid?.();
  const owner = findOwner(home);
  if (owner === undefined || owner === me) return;
  try {
    accessSync(home, constants.R_OK | constants.X_OK);
  } catch (cause) {
    const reason = `it belongs to another user (uid ${owner}), and you are uid ${me}`;
    throw new KitbagError("home-unusable", { home, reason }, { cause });
  }
}

function findOwner(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/**
 * Makes a folder and those above it, each for its owner alone. One by one: where no folder can be made, as in `/proc`, Node tries for ever
 * to make one and those above it at once.
 */
export function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  makeFolders(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // Another program may have made it a moment ago.
    if (code === "EEXIST" && isFolder(folder)) return;
    if (code === "EEXIST") throw toError("ENOTDIR", `${quote(folder)} is not a folder`, cause);
    if (code === "ENOENT") throw toError(code, `no folder can be made in ${quote(parent)}`, cause);
    allow(parent, constants.W_OK | constants.X_OK);
    throw cause;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function allow(folder: string, mode: number): void {
  try {
    accessSync(folder, mode);
  } catch (cause) {
    throw toError("EACCES", `you may not write in ${quote(folder)}`, cause);
  }
}

/** An error of the file system that says more than the system does. */
function toError(code: string, message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}
