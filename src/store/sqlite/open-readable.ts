import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

import { isNotAllowed } from "./sqlite-errors.ts";

/**
 * How every file is opened: SQLite does not wait itself, nothing in the file can call a function that has effects, and no statement
 * can change how the file is laid out.
 */
export const careful = { timeout: 0, defensive: true } as const;

/** Said to every connection: nothing that the file defines is run. */
export const distrust = "PRAGMA trusted_schema = OFF";

/** Opens a file to read it only, also one that may not be written. Throws what SQLite throws. */
export async function openReadable(file: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const connection = new Database(file, { ...careful, readOnly: true });
  try {
    connection.exec(`${distrust}; SELECT count(*) FROM sqlite_schema`);
    return connection;
  } catch (cause) {
    connection.close();
    // SQLite wants to make its index beside the file. Without a log nothing can be missed, so it is told that nobody writes.
    if (!isNotAllowed(cause) || hasLog(file)) throw cause;
    const immutable = new Database(`${pathToFileURL(file).href}?immutable=1`, { ...careful, readOnly: true });
    immutable.exec(distrust);
    return immutable;
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
