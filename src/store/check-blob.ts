import { isUint8Array } from "node:util/types";

import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";

/**
 * Checks that what is put can be read piece by piece.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkSource(source: AsyncIterable<Uint8Array>): void {
  if (typeof source?.[Symbol.asyncIterator] !== "function") refuseBytes(source);
}

/**
 * Checks a piece of what is put.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkPiece(piece: Uint8Array): void {
  if (!isUint8Array(piece)) refuseBytes(piece);
}

function refuseBytes(found: unknown): never {
  const expected = "a Uint8Array, or an async iterable of them";
  throw new KitbagError("option-invalid", { option: "bytes", found: showValue(found), expected });
}

/**
 * Checks the digests that are to be kept.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkKeep(keep: ReadonlySet<string>): void {
  // A list has no `has`: taken for a set it would keep nothing, and everything would be deleted.
  if (typeof keep?.has === "function") return;
  throw new KitbagError("option-invalid", { option: "keep", found: showValue(keep), expected: "a Set of digests" });
}
