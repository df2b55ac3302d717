import fc from "fast-check";
import { expect, test } from "vitest";

import type { JsonObject, JsonValue } from "../../core/json.ts";
import { positional, switchFlag, valueFlag } from "./flag-parameter.ts";
import { fromArgv } from "./from-argv.ts";
import { toSchemaAndMapping, type Parameter } from "./parameter.ts";
import { toArgv } from "./to-argv.ts";

const text = fc.string({ unit: "binary", minLength: 1 }).filter((value) => !value.includes("\0"));
const kinds = {
  text: { parameter: (flag: string): Parameter => valueFlag({ flags: [flag], joint: "=" }), value: text },
  number: {
    parameter: (flag: string): Parameter => valueFlag({ flags: [flag], type: "integer", joint: "=" }),
    value: fc.integer(),
  },
  switch: {
    parameter: (flag: string): Parameter => switchFlag({ flags: [flag], opposite: flag.replace("--", "--no-") }),
    value: fc.boolean(),
  },
  repeated: {
    parameter: (flag: string): Parameter => valueFlag({ flags: [flag], many: "repeat", joint: "=" }),
    value: fc.array(text, { minLength: 1, maxLength: 3 }),
  },
} as const satisfies Record<string, { parameter(flag: string): Parameter; value: fc.Arbitrary<JsonValue> }>;

const names = ["alpha", "beta", "gamma", "delta"] as const;

test("fromArgv() gives back every input that toArgv() wrote", () => {
  const flag = fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[]));
  const line = fc.array(flag, { minLength: 0, maxLength: 4 }).chain((chosen) =>
    fc.record({
      chosen: fc.constant(chosen),
      values: fc.tuple(
        ...chosen.map((kind) => fc.option(kinds[kind].value as fc.Arbitrary<JsonValue>, { nil: undefined })),
      ),
      places: fc.array(text, { maxLength: 3 }),
      words: fc.constantFrom([], ["run"], ["a", "b"]),
    }),
  );

  fc.assert(
    fc.property(line, ({ chosen, values, places, words }) => {
      const parameters = chosen.map((kind, index) => kinds[kind].parameter(`--${names[index] ?? "x"}`));
      const rest = positional({ name: "rest", many: true });
      const { inputSchema, mapping } = toSchemaAndMapping({
        parameters: [...parameters, rest],
        words,
        separator: "needed",
      });
      const input = toInput(values, places);

      const read = fromArgv(mapping, inputSchema, toArgv(mapping, input).argv);

      expect(read).toEqual({ input, unknownFlags: [], unknownWords: [] });
    }),
  );
});

test("fromArgv() tells flags it does not know from words", () => {
  const { inputSchema, mapping } = toSchemaAndMapping({ parameters: [valueFlag({ flags: ["--out"] })] });

  const read = fromArgv(mapping, inputSchema, ["--ouput", "x", "-5", "--out", "y"]);

  expect(read).toEqual({ input: { out: "y" }, unknownFlags: ["--ouput"], unknownWords: ["x", "-5"] });
});

test("fromArgv() takes short flags together, and a value that is joined to one", () => {
  const parameters = [
    switchFlag({ flags: ["--all", "-a"] }),
    switchFlag({ flags: ["--long", "-l"] }),
    valueFlag({ flags: ["--num", "-n"], type: "integer" }),
  ];
  const { inputSchema, mapping } = toSchemaAndMapping({ parameters });

  expect(fromArgv(mapping, inputSchema, ["-al", "-n5"]).input).toEqual({ all: true, long: true, num: 5 });
});

test("fromArgv() takes every word of a script that only passes them on", () => {
  const { inputSchema, mapping } = toSchemaAndMapping({ parameters: [positional({ name: "args", many: true })] });

  expect(fromArgv(mapping, inputSchema, ["--x", "1"]).input).toEqual({ args: ["--x", "1"] });
});

test("fromArgv() leaves words over when there are too many", () => {
  const { inputSchema, mapping } = toSchemaAndMapping({ parameters: [positional({ name: "a" })] });

  expect(fromArgv(mapping, inputSchema, ["1", "2"])).toEqual({
    input: { a: "1" },
    unknownFlags: [],
    unknownWords: ["2"],
  });
});

function toInput(values: readonly (JsonValue | undefined)[], places: readonly string[]): JsonObject {
  const given = values
    .map((value, index) => [names[index] ?? "x", value] as const)
    .filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), ...(places.length > 0 && { rest: places }) };
}
