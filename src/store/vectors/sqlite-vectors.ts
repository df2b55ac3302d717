import { dirname, resolve } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { VectorStore } from "../../core/embedder.ts";
import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { makeFolders } from "../../platform/home.ts";
import { loadPackage } from "../../platform/load-package.ts";

/** What {@link sqliteVectors} takes. */
export interface SqliteVectorsOptions {
  /** Where they are kept; made if it is not there. Not the file of a store: it has tables of an extension. */
  readonly file: string;
}

/** Vectors in a file. */
export interface SqliteVectors extends VectorStore {
  close(): Promise<void>;
}

interface SqliteVec {
  getLoadablePath(): string;
}

/**
 * Keeps vectors in an SQLite file of their own, and has the extension `sqlite-vec` compare them, in C and without holding them in
 * memory: for some hundred thousand. Needs the package `sqlite-vec`.
 *
 * @throws {KitbagError} (rejects) `option-invalid`; `package-missing` without `sqlite-vec`.
 *
 * @example
 * ```ts no-run
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { sqliteVectors } from "kitbag/store";
 *
 * const vectors = await sqliteVectors({ file: join(mkdtempSync(join(tmpdir(), "kitbag-")), "vectors.db") });
 * await vectors.put("texts", [{ id: 7, vector: Float32Array.of(0, 1) }]);
 * const [near] = await vectors.search("texts", Float32Array.of(0.1, 0.9), 1);
 * console.assert(near?.id === 7);
 * await vectors.close();
 * ```
 */
export async function sqliteVectors({ file }: SqliteVectorsOptions): Promise<SqliteVectors> {
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new KitbagError("option-invalid", { option: "file", found: showValue(file), expected: "the path of a file" });
  }
  const { getLoadablePath } = await loadPackage<SqliteVec>("sqlite-vec", "sqliteVectors");
  const { DatabaseSync: Database } = await import("node:sqlite");
  makeFolders(dirname(resolve(file)));
  const database = new Database(resolve(file), { allowExtension: true, timeout: 5000 });
  database.loadExtension(getLoadablePath());
  database.enableLoadExtension(false);
  database.exec(tables);
  return createVectors(database);
}

/** A vector has a row number of its own, because ids are those of a collection. Each length has a table. */
const tables = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS places (
    place INTEGER PRIMARY KEY, collection TEXT NOT NULL, id INTEGER NOT NULL, length INTEGER NOT NULL, UNIQUE (collection, id)
  );
`;

function createVectors(database: DatabaseSync): SqliteVectors {
  const sql = createStatements(database);

  function makeTable(length: number): string {
    const name = `vectors_${length}`;
    const columns = `place INTEGER PRIMARY KEY, collection TEXT partition key, vector float[${length}] distance_metric=cosine`;
    database.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${name} USING vec0(${columns})`);
    return name;
  }

  function remove(collection: string, id: number): void {
    const found = sql("DELETE FROM places WHERE collection = ? AND id = ? RETURNING place, length").get(collection, id);
    if (found === undefined) return;
    sql(`DELETE FROM vectors_${Number(found["length"])} WHERE place = ?`).run(BigInt(Number(found["place"])));
  }

  return {
    async put(collection, vectors) {
      inTransaction(database, () => {
        for (const { id, vector } of vectors) {
          const table = makeTable(vector.length);
          remove(collection, id);
          const made = sql("INSERT INTO places (collection, id, length) VALUES (?, ?, ?) RETURNING place");
          const place = BigInt(Number(made.get(collection, id, vector.length)?.["place"]));
          sql(`INSERT INTO ${table} (place, collection, vector) VALUES (?, ?, ?)`).run(
            place,
            collection,
            toBytes(vector),
          );
        }
      });
    },
    async delete(collection, ids) {
      inTransaction(database, () => {
        for (const id of ids) remove(collection, id);
      });
    },
    async search(collection, vector, limit) {
      const table = makeTable(vector.length);
      const near = `SELECT place, distance FROM ${table} WHERE vector MATCH ? AND collection = ? AND k = ?`;
      const rows = sql(
        `SELECT places.id, near.distance FROM (${near}) near JOIN places USING (place) ORDER BY near.distance`,
      );
      const found = rows.all(toBytes(vector), collection, Math.min(limit, mostNear));
      return found.map((row) => ({ id: Number(row["id"]), similarity: 1 - Number(row["distance"]) }));
    },
    async close() {
      database.close();
    },
  };
}

/** Makes each statement once. */
function createStatements(database: DatabaseSync): (text: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (text) => {
    const known = statements.get(text) ?? database.prepare(text);
    statements.set(text, known);
    return known;
  };
}

/** More the extension does not answer with. */
const mostNear = 4096;

function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (cause) {
    database.exec("ROLLBACK");
    throw cause;
  }
}
