import { isUint8Array } from "node:util/types";

import { checkPiece, checkSource } from "../check-blob.ts";

/** All chunks but the last of a blob have this size. */
export const chunkBytes = 64 * 1024;

/** So many chunks are valid at a time: then their memory is used again. */
export const chunksAtOnce = 8;

/**
 * Cuts bytes, whole or in pieces, into chunks of one size; the last may be shorter. Pieces are copied, because their buffer may be
 * used again. `check` is called for each piece and may throw.
 *
 * @throws {KitbagError} `option-invalid` if it is not bytes.
 */
export async function* toChunks(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  check: () => void,
): AsyncGenerator<Uint8Array> {
  if (isUint8Array(source)) {
    for (let offset = 0; offset < source.length; offset += chunkBytes) {
      check();
      yield source.subarray(offset, offset + chunkBytes);
    }
    return;
  }
  checkSource(source);
  const ring = Array.from({ length: chunksAtOnce }, () => new Uint8Array(0));
  let count = 0;
  let filled = 0;
  for await (const piece of source) {
    check();
    checkPiece(piece);
    for (let offset = 0; offset < piece.length;) {
      const chunk = takeBuffer(ring, count);
      const part = piece.subarray(offset, offset + chunkBytes - filled);
      chunk.set(part, filled);
      offset += part.length;
      filled += part.length;
      if (filled < chunkBytes) break;
      yield chunk;
      count += 1;
      filled = 0;
    }
  }
  if (filled > 0) yield takeBuffer(ring, count).subarray(0, filled);
}

/** Small blobs need one buffer, large ones all of them. */
function takeBuffer(ring: Uint8Array[], count: number): Uint8Array {
  const index = count % chunksAtOnce;
  const known = ring[index];
  if (known && known.length > 0) return known;
  return (ring[index] = new Uint8Array(chunkBytes));
}
