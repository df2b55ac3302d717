import { resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { createStoreLife } from "../store-life.ts";
import { openDatabase } from "./open-database.ts";
import { sqliteBlobs } from "./sqlite-blobs.ts";
import { sqliteKv } from "./sqlite-kv.ts";
import { sqliteLog } from "./sqlite-log.ts";
import type { SqliteParts } from "./sqlite-parts.ts";
import { sqliteQueues } from "./sqlite-queue.ts";
import { createSqliteWriter } from "./sqlite-writer.ts";

/** What {@link sqliteStore} takes. */
export interface SqliteStoreOptions {
  /** Where it is kept; made if it is not there, with its folder. Beside it SQLite keeps `-wal` and `-shm`. */
  readonly file: string;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/**
 * Opens a store that is kept in one file, which several processes may open at the same time. Whatever was acknowledged is on disk,
 * but for what is said to be not `durable`. Writes that are called in one turn of the event loop are written together, so many at once cost little more than one.
 *
 * @throws {KitbagError} `option-invalid`; `store-newer` if a newer version of Kitbag has made it; `store-unavailable`
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { sqliteStore } from "kitbag/store";
 *
 * const file = join(mkdtempSync(join(tmpdir(), "kitbag-")), "kitbag.db");
 * const store = await sqliteStore({ file });
 * await store.log.append("run:1", [{ type: "run-start" }]);
 * await store.close();
 *
 * const again = await sqliteStore({ file });
 * console.assert((await again.log.position("run:1")) === 1);
 * await again.close();
 * ```
 */
export async function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): Promise<Store> {
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new KitbagError("option-invalid", { option: "file", found: showValue(file), expected: "the path of a file" });
  }
  if (typeof now !== "function") {
    throw new KitbagError("option-invalid", { option: "now", found: showValue(now), expected: "a function" });
  }
  const database = await openDatabase(resolve(file));
  return toStore({ life: createStoreLife(now), database, writer: createSqliteWriter(database) });
}

function toStore(parts: SqliteParts): Store {
  const { life, database, writer } = parts;
  const { blobs, clean, abandonAll } = sqliteBlobs(parts);
  // What a process that was killed has left takes only space.
  clean().catch(() => undefined);
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    abandonAll();
    life.close();
    while (writer.whenWritten()) await writer.whenWritten();
    await writer.stop();
    database.close();
  }

  const kv = sqliteKv(parts);
  return {
    kv,
    log: sqliteLog(parts, kv),
    blobs,
    queue: sqliteQueues(parts),
    close: () => (closed ??= close()),
  };
}
