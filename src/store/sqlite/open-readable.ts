import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

import { isNotAllowed } from "./sqlite-errors.ts";

/** Opens a file to read it only, also one that may not be written. Throws what SQLite throws. */
export async function openReadable(file: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const connection = new Database(file, { readOnly: true, timeout: 0 });
  try {
    connection.exec("SELECT count(*) FROM sqlite_schema");
    return connection;
  } catch (cause) {
    connection.close();
    // SQLite wants to make its index beside the file. Without a log nothing can be missed, so it is told that nobody writes.
    if (!isNotAllowed(cause) || hasLog(file)) throw cause;
    return new Database(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true, timeout: 0 });
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
