import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";

const maxKeyBytes = 1024;

/** The longest piece of a wrong key that an error carries. */
const longestShown = 200;

/**
 * Checks the key of a value or the name of a stream.
 *
 * @throws {KitbagError} `store-key-invalid` if the contract of `Store` does not allow it.
 */
export function checkKey(key: string): void {
  checkKeyPart(key);
  if (key === "") refuse(key, "it is empty");
}

/**
 * Checks what keys are compared with: like a key, but it may be empty.
 *
 * @throws {KitbagError} `store-key-invalid` if no key can begin with it.
 */
export function checkKeyPart(part: string): void {
  if (typeof part !== "string") refuse(showValue(part), "it is not a text");
  // A code unit takes three bytes at the most, so a short text needs no count.
  if (part.length * 3 > maxKeyBytes && Buffer.byteLength(part) > maxKeyBytes) {
    refuse(part, `it is longer than ${maxKeyBytes} bytes`);
  }
  if (part.includes("\0")) refuse(part, "it contains NUL");
  if (!part.isWellFormed()) refuse(part, "it contains an unpaired surrogate");
}

function refuse(key: string, reason: string): never {
  throw new KitbagError("store-key-invalid", { key: key.slice(0, longestShown), reason });
}
