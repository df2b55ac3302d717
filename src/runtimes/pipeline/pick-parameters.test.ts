import { expect, test } from "vitest";

import { pickParameters } from "./part.ts";

const closed = { type: "object", properties: { a: {}, constructor: {} }, additionalProperties: false };

test.for<[unknown, unknown, unknown]>([
  [closed, { a: 1, b: 2 }, { a: 1 }],
  [closed, { constructor: 1 }, { constructor: 1 }],
  [closed, { toString: 1 }, {}],
  [
    { ...closed, additionalProperties: true },
    { a: 1, b: 2 },
    { a: 1, b: 2 },
  ],
  [
    { ...closed, patternProperties: { "^x": {} } },
    { a: 1, x: 2 },
    { a: 1, x: 2 },
  ],
  [{ type: "array", items: closed }, [{ a: 1, b: 2 }], [{ a: 1 }]],
  [{ properties: { inner: closed } }, { inner: { b: 1 }, other: { b: 1 } }, { inner: {}, other: { b: 1 } }],
  [{ anyOf: [closed] }, { b: 1 }, { b: 1 }],
  [closed, "text", "text"],
  [closed, null, null],
  [true, { b: 1 }, { b: 1 }],
  [undefined, { b: 1 }, { b: 1 }],
])("pickParameters(%j, %j) is %j", ([schema, value, expected]) => {
  expect(pickParameters(schema, value)).toEqual(expected);
});

test("pickParameters() leaves what is not plain for the check to report", () => {
  const date = new Date(0);

  expect(pickParameters(closed, date)).toBe(date);
});
