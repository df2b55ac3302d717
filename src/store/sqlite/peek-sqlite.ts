import type { DatabaseSync } from "node:sqlite";

import type { JsonValue } from "../../core/json.ts";
import { storeIdKey, toStoreId } from "../store-id.ts";
import { openReadable } from "./open-readable.ts";
import { parseKept } from "./parse-kept.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { toUnavailable } from "./sqlite-errors.ts";

/** What the file of a store says of itself. */
export interface PeekedStore {
  readonly id?: string;
  /** The last entry of the stream that was asked for. */
  readonly last?: JsonValue;
}

/**
 * Reads which store a file holds, and the last entry of a stream, without changing the file: it may have come from anywhere. A file
 * without our tables has neither.
 *
 * @throws {KitbagError} `store-unavailable` if it cannot be read, or is no database.
 */
export async function peekSqlite(file: string, stream: string): Promise<PeekedStore> {
  try {
    return await retryWhileBusy(async () => {
      const database = await openReadable(file);
      try {
        return peek(database, stream);
      } finally {
        database.close();
      }
    });
  } catch (cause) {
    throw toUnavailable(file, cause);
  }
}

function peek(database: DatabaseSync, stream: string): PeekedStore {
  const tables = database.prepare(
    "SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND name IN ('kv', 'streams', 'entries')",
  );
  if (tables.get()?.["count"] !== 3) return {};
  const id = database.prepare("SELECT value FROM kv WHERE key = ?").get(storeIdKey);
  const last = database
    .prepare(
      `SELECT value FROM entries WHERE stream = (SELECT id FROM streams WHERE name = ?) ORDER BY position DESC LIMIT 1`,
    )
    .get(stream);
  const found = id === undefined ? undefined : toStoreId(parseKept(String(id["value"])));
  return {
    ...(found !== undefined && { id: found }),
    ...(last !== undefined && { last: parseKept(String(last["value"])) }),
  };
}
