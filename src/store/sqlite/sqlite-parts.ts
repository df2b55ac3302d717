import { KitbagError } from "../../core/errors.ts";
import type { StoreLife } from "../store-life.ts";
import type { SqliteDatabase } from "./open-database.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { toUnavailable } from "./sqlite-errors.ts";
import type { SqliteWriter } from "./sqlite-writer.ts";

/** What the parts of one SQLite store share. */
export interface SqliteParts {
  readonly life: StoreLife;
  readonly database: SqliteDatabase;
  readonly writer: SqliteWriter;
}

/**
 * Reads at once, but after the writes to `scope` (or to anything, without one) that were called before.
 *
 * @throws {KitbagError} `store-unavailable`; `store-closed` if it was closed meanwhile.
 */
export async function read<Value>(
  { database, writer }: SqliteParts,
  operation: string,
  run: () => Value,
  scope?: string,
): Promise<Value> {
  await writer.whenWritten(scope);
  try {
    return await retryWhileBusy(() => {
      if (!database.isOpen()) throw new KitbagError("store-closed", { operation });
      return run();
    });
  } catch (cause) {
    throw toUnavailable(database.file, cause);
  }
}
