import { join } from "node:path";

import { expect, test } from "vitest";

import { writeGguf } from "../../../test/llama/write-gguf.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";
import { findGgufProblem } from "./check-gguf.ts";

const whole = writeGguf();

test("findGgufProblem() has nothing to say about a whole file", async () => {
  expect(await check(whole)).toBeUndefined();
});

test.for([4, 7, 24, 40, 100, 3000, 9000, 100_000, 200_000])(
  "findGgufProblem() knows a file that was cut after %i bytes",
  async (bytes) => {
    expect(await check(whole.subarray(0, bytes))).toMatch(
      /^the file was cut: it has [\d,]+ bytes, and its header says at least [\d,.]+; download it again$/u,
    );
  },
);

test.for<[string, (file: Buffer) => void, RegExp]>([
  ["a text", (file) => file.write("hello"), /^it is no GGUF file$/u],
  ["a version that nothing reads", (file) => file.writeUInt32LE(9, 4), /of version 9/u],
  ["more tensors than any model has", (file) => file.writeBigUInt64LE(2n ** 62n, 8), /header is broken/u],
  ["more entries than any model has", (file) => file.writeBigUInt64LE(2n ** 62n, 16), /header is broken/u],
  ["a key without end", (file) => file.writeBigUInt64LE(2n ** 63n, 24), /was cut/u],
  ["a value without end", (file) => file.writeBigUInt64LE(2n ** 40n, 24 + 8 + 20 + 4), /was cut/u],
])("findGgufProblem() refuses a file with %s", async ([, damage, problem]) => {
  const file = Buffer.from(whole);
  damage(file);

  expect(await check(file)).toMatch(problem);
});

test("findGgufProblem() says what else may be there", async () => {
  const folder = createFolder({ empty: "" });

  expect(await findGgufProblem(join(folder, "none.gguf"))).toMatch(/^there is no file .*none\.gguf$/u);
  expect(await findGgufProblem(folder)).toMatch(/is no file$/u);
  expect(await findGgufProblem(join(folder, "empty"))).toBe("it is no GGUF file");
});

function check(bytes: Uint8Array): Promise<string | undefined> {
  return findGgufProblem(join(createFolder({ "m.gguf": bytes }), "m.gguf"));
}
