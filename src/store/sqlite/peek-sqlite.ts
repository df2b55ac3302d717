import type { DatabaseSync } from "node:sqlite";

import type { JsonValue } from "../../core/json.ts";
import { storeIdKey, toStoreId } from "../store-id.ts";
import { openReadable } from "./open-database.ts";
import { parseKept, retryWhileBusy, toUnavailable } from "./sqlite-errors.ts";

/** What the file of a store says of itself. */
export interface PeekedStore {
  readonly id?: string;
  /** The last entry of the stream that was asked for. */
  readonly last?: JsonValue;
  /** The entry at the position that was asked for. */
  readonly at?: JsonValue;
}

/**
 * Reads which store a file holds, and entries of a stream, without changing the file: it may have come from anywhere. A file without
 * our tables has none of them.
 *
 * @throws {KitbagError} `store-unavailable` if it cannot be read, or is no database.
 */
export async function peekSqlite(file: string, stream: string, position?: number): Promise<PeekedStore> {
  try {
    return await retryWhileBusy(async () => {
      const database = await openReadable(file);
      try {
        return peek(database, stream, position);
      } finally {
        database.close();
      }
    });
  } catch (cause) {
    throw toUnavailable(file, cause);
  }
}

function peek(database: DatabaseSync, stream: string, position = 0): PeekedStore {
  const tables = database.prepare(
    "SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND name IN ('kv', 'streams', 'entries')",
  );
  if (tables.get()?.["count"] !== 3) return {};
  const id = database.prepare("SELECT value FROM kv WHERE key = ?").get(storeIdKey);
  const entries = "SELECT value FROM entries WHERE stream = (SELECT id FROM streams WHERE name = ?)";
  const last = database.prepare(`${entries} ORDER BY position DESC LIMIT 1`).get(stream);
  const at = database.prepare(`${entries} AND position = ?`).get(stream, position);
  const found = id === undefined ? undefined : toStoreId(parseKept(String(id["value"])));
  return {
    ...(found !== undefined && { id: found }),
    ...(last !== undefined && { last: parseKept(String(last["value"])) }),
    ...(at !== undefined && { at: parseKept(String(at["value"])) }),
  };
}
