import { createHmac, randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import { createKeyedHash } from "./audit-keys.ts";

test.for([
  ["nothing", ""],
  ["a short text", "what do ya want for nothing?"],
  ["characters of two to four bytes", "ä€😀".repeat(50)],
  ["an unpaired surrogate", "a\ud800b\udfff"],
  ["NUL", "a\0b"],
  ...[54, 55, 56, 63, 64, 65, 5439, 5440, 5441, 16_319, 16_320, 16_321].map((length) => [
    `${length} characters`,
    "x".repeat(length),
  ]),
  ["as many characters of three bytes as there is room for", "€".repeat(5440)],
  ["2 MB", "0123456789".repeat(200_000)],
] as const)("createKeyedHash() hashes %s as HMAC-SHA-256 does", ([, text = ""]) => {
  const key = randomBytes(32);

  expect(createKeyedHash(key)(text)).toBe(createHmac("sha256", key).update(text).digest("hex"));
});

test("createKeyedHash() takes keys of 1 to 64 bytes", () => {
  for (let length = 1; length <= 64; length++) {
    const key = randomBytes(length);

    expect(createKeyedHash(key)("text")).toBe(createHmac("sha256", key).update("text").digest("hex"));
  }
});

test("createKeyedHash() remembers nothing of the text before", () => {
  const keyed = createKeyedHash(Buffer.alloc(32, 7));
  const short = keyed("short");

  keyed("a text that is much longer".repeat(100));

  expect(keyed("short")).toBe(short);
});
