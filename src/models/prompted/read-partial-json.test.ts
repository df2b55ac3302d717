import { expect, test } from "vitest";

import { readPartialJson } from "./read-partial-json.ts";

test("readPartialJson() gives more each time", async () => {
  expect(await readAll(['{"a": [1, ', '2], "b": "x', 'y"}'])).toEqual([
    '{"a":[1]}',
    '{"a":[1,2],"b":"x"}',
    '{"a":[1,2],"b":"xy"}',
  ]);
});

test("readPartialJson() repairs what is not JSON when it is over", async () => {
  expect((await readAll(["{'a': ", "1", ", 'b': 2,}"])).at(-1)).toBe('{"a":1,"b":2}');
});

test("readPartialJson() ends where an input was cut off", async () => {
  expect((await readAll(['{"a": "x', "y"])).at(-1)).toBe('{"a":"xy"}');
});

test("readPartialJson() gives nothing for nothing that can be read", async () => {
  expect(await readAll(["no json"])).toEqual([]);
});

test("readPartialJson() passes the errors of its chunks on", async () => {
  async function* failing(): AsyncGenerator<string> {
    yield '{"a":';
    throw new Error("cut");
  }

  const reading = (async () => {
    for await (const _ of readPartialJson(failing()));
  })();

  await expect(reading).rejects.toThrow("cut");
});

async function readAll(chunks: readonly string[]): Promise<string[]> {
  async function* give(): AsyncGenerator<string> {
    yield* chunks;
  }
  const seen: string[] = [];
  for await (const value of readPartialJson(give())) seen.push(JSON.stringify(value));
  return seen;
}
