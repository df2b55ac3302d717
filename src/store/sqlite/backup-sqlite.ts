import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { renameDurably } from "../../platform/files.ts";
import { makeFolders } from "../../platform/home.ts";
import { checkExists } from "./check-sqlite.ts";
import { beginCopy, removeLeftCopies } from "./left-copies.ts";
import { checkReadable } from "./migrate.ts";
import { openReadable } from "./open-database.ts";
import { schema } from "./schema.ts";
import { toUnavailable } from "./sqlite-errors.ts";

/** More pages than a file can have: with all in one step no write of others makes it begin anew. */
const allPages = 2 ** 31 - 1;

/**
 * Copies the file of an SQLite store to `to`, while others may write, and answers with its size in bytes. The copy is what was there
 * at one moment; it is at `to` only when it is complete and on disk. What a killed process leaves is deleted by the next copy with
 * the same folder of `notes`, which only this user may write to.
 *
 * @throws {KitbagError} `store-unavailable` if the file cannot be read or the copy cannot be written; `store-newer`;
 * `option-invalid` if there is something at `to`.
 */
export async function backupSqlite(file: string, to: string, notes: string): Promise<number> {
  checkExists(file);
  if (existsSync(to)) {
    throw new KitbagError("option-invalid", { option: "to", found: to, expected: "a path where nothing is yet" });
  }
  // What a process that was killed has left takes only space.
  await removeLeftCopies(notes).catch(() => undefined);
  try {
    makeFolders(dirname(to));
  } catch (cause) {
    throw toUnavailable(to, cause);
  }
  const unfinished = await beginCopy(file, to, notes);
  try {
    create(unfinished.path, to);
    await copy(file, unfinished.path);
    renameDurably(unfinished.path, to);
    return statSync(to).size;
  } catch (cause) {
    throw toUnavailable(file, cause);
  } finally {
    unfinished.end();
  }
}

function create(path: string, to: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    throw toUnavailable(to, cause);
  }
}

async function copy(file: string, to: string): Promise<void> {
  const { backup } = await import("node:sqlite");
  const database = await openReadable(file);
  try {
    checkReadable(file, database, schema);
    await backup(database, to, { rate: allPages });
  } finally {
    database.close();
  }
}
