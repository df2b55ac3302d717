import type * as Postgres from "pg";

import type { VectorStore } from "../../core/embedder.ts";
import { describeCause, KitbagError } from "../../core/errors.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { choosePlace, parseServerAddress } from "../server-connection.ts";

/** What {@link postgresVectors} takes. */
export interface PostgresVectorsOptions {
  /** `postgresql://user:password@host:port/database`, with `?schema=name` if it is not said with `schema` */
  readonly url: string;
  /** Where the table `vectors` is. Small letters, digits and `_`. @default "kitbag" */
  readonly schema?: string;
}

/** Vectors in a Postgres database. */
export interface PostgresVectors extends VectorStore {
  close(): Promise<void>;
}

/**
 * Keeps vectors in a Postgres database with the extension pgvector, for several machines. Needs the package `pg`. It compares the query
 * with each vector of a collection; for more than some hundred thousand, make an index of pgvector on the table `vectors`, for
 * your length.
 *
 * @throws {KitbagError} (rejects) `option-invalid`; `package-missing` without `pg`; `store-unavailable` without the extension.
 *
 * @example
 * ```ts no-run
 * import { postgresVectors } from "kitbag/store";
 *
 * const vectors = await postgresVectors({ url: process.env["DATABASE_URL"] ?? "postgresql://localhost/kitbag" });
 * await vectors.put("texts", [{ id: 7, vector: Float32Array.of(0, 1) }]);
 * console.assert((await vectors.search("texts", Float32Array.of(0, 1), 1))[0]?.id === 7);
 * await vectors.close();
 * ```
 */
export async function postgresVectors(options: PostgresVectorsOptions): Promise<PostgresVectors> {
  const address = parseServerAddress(options.url, ["postgresql:", "postgres:"], "schema");
  const schema = choosePlace("schema", { option: options.schema, address, usual: "kitbag" });
  if (typeof schema !== "string" || !/^[a-z_][a-z0-9_]{0,40}$/u.test(schema)) {
    const expected = "up to 41 small letters, digits and _, not beginning with a digit";
    throw new KitbagError("option-invalid", { option: "schema", found: String(schema), expected });
  }
  const { Pool } = await loadPackage<typeof Postgres>("pg", "postgresVectors");
  const pool = new Pool({ connectionString: address.url, max: 3 });
  // A connection that is lost while it waits is made again when it is needed.
  pool.on("error", () => undefined);
  const table = `"${schema}".vectors`;
  try {
    await makeTable(pool, schema, table);
  } catch (cause) {
    await pool.end();
    throw unavailable(address.shown, cause);
  }
  return createVectors(pool, table);
}

async function makeTable(pool: Postgres.Pool, schema: string, table: string): Promise<void> {
  await pool.query("CREATE EXTENSION IF NOT EXISTS vector");
  await pool.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  const columns = "collection text NOT NULL, id bigint NOT NULL, vector vector NOT NULL, PRIMARY KEY (collection, id)";
  await pool.query(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`);
}

function unavailable(store: string, cause: unknown): KitbagError {
  return new KitbagError(
    "store-unavailable",
    {
      store,
      reason: `the table of vectors cannot be made (${describeCause(cause)})`,
      cure: "install the extension pgvector, and let the user of the database create it",
      mayBeWritten: false,
    },
    { cause },
  );
}

function createVectors(pool: Postgres.Pool, table: string): PostgresVectors {
  return {
    async put(collection, vectors) {
      if (vectors.length === 0) return;
      await pool.query(
        `INSERT INTO ${table} (collection, id, vector)
         SELECT $1, id, text::vector FROM unnest($2::bigint[], $3::text[]) AS given (id, text)
         ON CONFLICT (collection, id) DO UPDATE SET vector = EXCLUDED.vector`,
        [collection, vectors.map(({ id }) => id), vectors.map(({ vector }) => toText(vector))],
      );
    },
    async delete(collection, ids) {
      await pool.query(`DELETE FROM ${table} WHERE collection = $1 AND id = ANY($2::bigint[])`, [collection, ids]);
    },
    async search(collection, vector, limit) {
      const { rows } = await pool.query<{ id: string; similarity: number }>(
        `SELECT id, 1 - (vector <=> $2::vector) AS similarity FROM ${table} WHERE collection = $1
         ORDER BY vector <=> $2::vector LIMIT $3`,
        [collection, toText(vector), limit],
      );
      return rows.map(({ id, similarity }) => ({ id: Number(id), similarity: Number(similarity) }));
    },
    async close() {
      await pool.end();
    },
  };
}

function toText(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}
