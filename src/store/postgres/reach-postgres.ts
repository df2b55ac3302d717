import type * as Postgres from "pg";

import { loadPackage } from "../../platform/load-package.ts";
import { parseServerAddress } from "../server-connection.ts";
import { createPostgresLink, toUnavailable } from "./postgres-link.ts";

/**
 * Asks a Postgres database whether it is there. Changes nothing: it makes no tables.
 *
 * @throws {KitbagError} (rejects) `package-missing` without `pg`; `store-unavailable` if the database cannot be used now.
 */
export async function reachPostgres(url: string, timeoutMs = 3000): Promise<void> {
  const address = parseServerAddress(url, ["postgresql:", "postgres:"], "schema");
  const { Client } = await loadPackage<typeof Postgres>("pg", "postgresStore");
  const link = createPostgresLink({
    timeoutMs,
    createClient: (config) => new Client({ ...config, connectionString: address.url }),
  });
  try {
    const answers = await link.send([{ name: "reach", text: "SELECT 1", values: [] }]);
    if (!answers.ok) throw toUnavailable(address.shown, answers.cause, false);
  } finally {
    await link.close();
  }
}
