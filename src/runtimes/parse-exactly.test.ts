import { expect, test } from "vitest";

import { parseExactly } from "./parse-exactly.ts";

test.for([
  "1",
  '{"id":9007199254740991}',
  "[12345678901234567000]",
  '"12345678901234567890"',
  "0.12345678901234567890",
])("parseExactly() reads %s as it is", (text) => {
  expect(parseExactly(text)).toEqual({ value: JSON.parse(text) as unknown });
});

test("parseExactly() takes numbers that are long and can be kept: powers of two, floating point, exponents", () => {
  const text = '{"a":18446744073709551616,"b":1.5e300,"c":1234567890123456789.5}';

  expect(parseExactly(text).inexact).toBeUndefined();
});

test("parseExactly() says which whole number would be changed, and where it is", () => {
  const text = '{"rows":[{"id":1},{"id":12345678901234567890},{"id":9007199254740993}]}';

  expect(parseExactly(text).inexact).toEqual({ path: "rows[1].id", source: "12345678901234567890" });
  expect(parseExactly("-9007199254740993").inexact).toEqual({ path: "", source: "-9007199254740993" });
});

test("parseExactly() throws for what is not JSON", () => {
  expect(() => parseExactly("12345678901234567890 apples")).toThrow(SyntaxError);
});
