/**
 * Turns texts into vectors, so that texts of a similar meaning are near each other.
 *
 * **Contract** of `embed`: one vector for each text, in their order, all of one length. Rejects if the model cannot be asked, or with
 * the reason of the signal.
 */
export interface Embedder {
  /** Names the model: vectors of two models are never compared. */
  readonly name: string;
  embed(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly (readonly number[] | Float32Array)[]>;
}

/** What was found near a vector. */
export interface NearVector {
  readonly id: number;
  /** The cosine: 1 for the same direction, 0 for nothing in common. */
  readonly similarity: number;
}

/**
 * Where vectors are kept, and found again by what is near them. A collection is a text of up to 300 bytes; its vectors have one length.
 *
 * **Contract**: what `put` acknowledged is found. A vector that is put again takes the place of the one before. Rejects if the vectors
 * cannot be reached; the memory then does without them.
 */
export interface VectorStore {
  put(collection: string, vectors: readonly { readonly id: number; readonly vector: Float32Array }[]): Promise<void>;
  delete(collection: string, ids: readonly number[]): Promise<void>;
  /** The nearest first. */
  search(collection: string, vector: Float32Array, limit: number): Promise<readonly NearVector[]>;
}

/** The vector of length 1 in the same direction; one without a direction stays as it is. */
export function toUnitVector(vector: readonly number[] | Float32Array): Float32Array {
  const unit = Float32Array.from(vector);
  const length = Math.sqrt(unit.reduce((sum, value) => sum + value * value, 0));
  return length > 0 && Number.isFinite(length) ? unit.map((value) => value / length) : unit;
}

/** The cosine of two vectors of length 1. */
export function cosineOf(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (const [index, value] of left.entries()) sum += value * (right[index] ?? 0);
  return sum;
}
