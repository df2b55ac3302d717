import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { findFreePort } from "../../../test/support/free-port.ts";
import { sharePostgres } from "../../../test/support/postgres.ts";
import { toUnitVector, type VectorStore } from "../../core/embedder.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { memoryStore } from "../memory-store.ts";
import { exactVectors } from "./exact-vectors.ts";
import { postgresVectors } from "./postgres-vectors.ts";
import { sqliteVectors } from "./sqlite-vectors.ts";

const kinds: Readonly<Record<string, () => Promise<VectorStore>>> = {
  exactVectors: async () => exactVectors(memoryStore().kv),
  async sqliteVectors() {
    const folder = mkdtempSync(join(tmpdir(), "kitbag-vectors-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const vectors = await sqliteVectors({ file: join(folder, "more", "vectors.db") });
    onTestFinished(() => vectors.close());
    return vectors;
  },
  async postgresVectors() {
    const vectors = await postgresVectors({ url: await startPgVector() });
    onTestFinished(() => vectors.close());
    return vectors;
  },
};

test.for(Object.entries(kinds))("%s finds what is near, the nearest first, in one collection", async ([, open]) => {
  const vectors = await open();
  await vectors.put("a", [
    { id: 1, vector: at(0) },
    { id: 2_000_000_000, vector: at(30) },
    { id: 3, vector: at(80) },
  ]);
  await vectors.put("b", [{ id: 4, vector: at(0) }]);

  const near = await vectors.search("a", at(10), 2);

  expect(near.map(({ id }) => id)).toEqual([1, 2_000_000_000]);
  expect(near[0]?.similarity).toBeCloseTo(Math.cos(Math.PI / 18), 5);
  expect(await vectors.search("none", at(0), 5)).toEqual([]);
  expect(await vectors.search("a", at(0), 100)).toHaveLength(3);
});

test.for(Object.entries(kinds))(
  "%s replaces a vector that is put again, and forgets one that is deleted",
  async ([, open]) => {
    const vectors = await open();
    await vectors.put("a", [
      { id: 1, vector: at(0) },
      { id: 2, vector: at(90) },
    ]);
    await vectors.search("a", at(0), 1);

    await vectors.put("a", [{ id: 2, vector: at(1) }]);
    await vectors.delete("a", [1, 77]);
    await vectors.delete("a", []);
    await vectors.put("a", []);

    const near = await vectors.search("a", at(0), 10);
    expect(near.map(({ id }) => id)).toEqual([2]);
    expect(near[0]?.similarity).toBeGreaterThan(0.99);
  },
);

test.for(Object.entries(kinds))("%s keeps vectors of two lengths apart by their collections", async ([, open]) => {
  const vectors = await open();
  await vectors.put("two", [{ id: 1, vector: at(0) }]);
  await vectors.put("three", [{ id: 1, vector: toUnitVector([1, 1, 1]) }]);

  expect((await vectors.search("three", toUnitVector([1, 1, 0.9]), 5)).map(({ id }) => id)).toEqual([1]);
});

test("exactVectors() finds what another process has put since it searched last", async () => {
  const { kv } = memoryStore();
  const [one, other] = [exactVectors(kv), exactVectors(kv)];
  await one.search("a", at(0), 1);

  await other.put("a", [{ id: 5, vector: at(0) }]);

  expect((await one.search("a", at(0), 1)).map(({ id }) => id)).toEqual([5]);
});

const postgres = sharePostgres();

test("postgresVectors() says what is missing on a server without pgvector", async (context) => {
  const { url } = await postgres(context);

  await expect(postgresVectors({ url })).rejects.toMatchObject({
    code: "store-unavailable",
    details: { cure: expect.stringContaining("pgvector") },
  });
});

test.for([{ url: "mysql://x" }, { url: "postgresql://localhost/x", schema: 'a"b' }, { url: 7 }])(
  "postgresVectors() refuses %j",
  async (options) => {
    await expect(postgresVectors(options as never)).rejects.toMatchObject({ code: "option-invalid" });
  },
);

test.for(["", "a\0b", 7])("sqliteVectors() refuses the file %j", async (file) => {
  await expect(sqliteVectors({ file: file as string })).rejects.toMatchObject({ code: "option-invalid" });
});

/** A vector of length 1 in this direction, in degrees. */
function at(degrees: number): Float32Array {
  const angle = (degrees * Math.PI) / 180;
  return Float32Array.of(Math.cos(angle), Math.sin(angle));
}

/** What is used of three packages. */
interface PgliteParts {
  readonly PGlite: { create(options: { extensions: object }): Promise<{ close(): Promise<void> }> };
  readonly vector: unknown;
  readonly PGLiteSocketServer: new (options: object) => { start(): Promise<void>; stop(): Promise<void> };
}

/** Postgres with pgvector, in this process, behind a socket that speaks its protocol. */
async function startPgVector(): Promise<string> {
  const user = "this test";
  const { PGlite } = await loadPackage<PgliteParts>("@electric-sql/pglite", user);
  const { vector } = await loadPackage<PgliteParts>("@electric-sql/pglite-pgvector", user);
  const { PGLiteSocketServer } = await loadPackage<PgliteParts>("@electric-sql/pglite-socket", user);
  const db = await PGlite.create({ extensions: { vector } });
  const port = await findFreePort();
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 10 });
  await server.start();
  onTestFinished(async () => {
    await server.stop();
    await db.close();
  });
  return `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`;
}
