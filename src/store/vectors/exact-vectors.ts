import { cosineOf, type NearVector, type VectorStore } from "../../core/embedder.ts";
import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";

/** The vectors of a collection, as far as this process has read them. */
interface Loaded {
  readonly vectors: Map<number, Float32Array>;
  /** The last key that was read: what is put later comes after it. */
  last: string;
}

const page = 500;
const numberLength = 12;
/** The collections of so many users are held in memory. */
const mostLoaded = 20;

/**
 * Keeps vectors in a store, and compares a query with each of them: exact, and fast enough for some ten thousand. A process holds
 * the vectors of a collection in memory once it has searched it.
 */
export function exactVectors(kv: KeyValueStore): VectorStore {
  const loaded = new Map<string, Loaded>();
  const toKey = (collection: string, id: number): string => `${collection}:${String(id).padStart(numberLength, "0")}`;

  async function load(collection: string): Promise<Loaded> {
    const known = loaded.get(collection) ?? { vectors: new Map<number, Float32Array>(), last: "" };
    loaded.delete(collection);
    loaded.set(collection, known);
    if (loaded.size > mostLoaded) loaded.delete(loaded.keys().next().value as string);
    for (let length = page; length === page;) {
      const rows = await kv.list({ prefix: `${collection}:`, after: known.last, limit: page });
      for (const [key, { value }] of rows) known.vectors.set(Number(key.slice(-numberLength)), readVector(value));
      known.last = rows.at(-1)?.[0] ?? known.last;
      length = rows.length;
    }
    return known;
  }

  return {
    async put(collection, vectors) {
      await Promise.all(
        vectors.map(({ id, vector }) => kv.set(toKey(collection, id), writeVector(vector), { durable: false })),
      );
      for (const { id, vector } of vectors) loaded.get(collection)?.vectors.set(id, vector);
    },
    async delete(collection, ids) {
      await Promise.all(ids.map((id) => kv.delete(toKey(collection, id))));
      for (const id of ids) loaded.get(collection)?.vectors.delete(id);
    },
    async search(collection, vector, limit) {
      const { vectors } = await load(collection);
      const found: NearVector[] = [];
      for (const [id, one] of vectors) found.push({ id, similarity: cosineOf(vector, one) });
      return found.toSorted((left, right) => right.similarity - left.similarity).slice(0, limit);
    },
  };
}

function writeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}

function readVector(kept: JsonValue): Float32Array {
  const bytes = new Uint8Array(Buffer.from(typeof kept === "string" ? kept : "", "base64"));
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / Float32Array.BYTES_PER_ELEMENT));
}
