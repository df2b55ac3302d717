import { hash } from "node:crypto";

/** HMAC-SHA-256 of a text with one key, in hexadecimal. */
export type KeyedHash = (text: string) => string;

/** How much of a message SHA-256 takes at a time. */
const blockBytes = 64;
const digestBytes = 32;
/** Longer texts get memory of their own. */
const scratchBytes = 16 * 1024;
/** No UTF-16 unit needs more as UTF-8. */
const bytesPerUnit = 3;

/**
 * Makes the keyed hash of a key of up to 64 bytes, as RFC 2104 says, of two plain hashes. Not with `createHmac`: it makes an object
 * for each use that the garbage collector must free one by one, and thousands of them hold up every call that waits meanwhile.
 */
export function createKeyedHash(key: Uint8Array): KeyedHash {
  const inner = Buffer.alloc(scratchBytes);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  for (let index = 0; index < blockBytes; index++) {
    inner[index] = (key[index] ?? 0) ^ 0x36;
    outer[index] = (key[index] ?? 0) ^ 0x5c;
  }

  function hashInner(text: string): string {
    if (text.length * bytesPerUnit > scratchBytes - blockBytes) {
      return hash("sha256", Buffer.concat([inner.subarray(0, blockBytes), Buffer.from(text)]), "binary");
    }
    const length = inner.write(text, blockBytes);
    return hash("sha256", inner.subarray(0, blockBytes + length), "binary");
  }

  return (text) => {
    outer.write(hashInner(text), blockBytes, "latin1");
    return hash("sha256", outer, "hex");
  };
}
