import { isUint8Array } from "node:util/types";

import { checkPiece, checkSource } from "../check-blob.ts";

/** All chunks but the last of a blob have this size. */
export const chunkBytes = 64 * 1024;

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
  let chunk = new Uint8Array(chunkBytes);
  let filled = 0;
  for await (const piece of source) {
    check();
    checkPiece(piece);
    for (let offset = 0; offset < piece.length;) {
      const part = piece.subarray(offset, offset + chunkBytes - filled);
      chunk.set(part, filled);
      offset += part.length;
      filled += part.length;
      if (filled < chunkBytes) break;
      yield chunk;
      chunk = new Uint8Array(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
