import { expect, test } from "vitest";

import { toVisibleSchema } from "./close-schema.ts";

test("R10: toVisibleSchema() cleans titles and descriptions at every depth, and no data", () => {
  const schema = {
    type: "object",
    title: "a\u200Bb",
    properties: {
      description: { type: "string", description: "x\u{E0041}y", enum: ["k\u200Bept"] },
      default: { anyOf: [{ title: "\u202Eturned" }, true], default: { description: "k\u200Bept" } },
    },
  } as const;

  const visible = toVisibleSchema(schema);

  expect(visible).toEqual({
    type: "object",
    title: "ab",
    properties: {
      description: { type: "string", description: "xy", enum: ["k\u200Bept"] },
      default: { anyOf: [{ title: "turned" }, true], default: { description: "k\u200Bept" } },
    },
  });
  expect(schema.title).toBe("a\u200Bb");
});

test("toVisibleSchema() finds what is hidden in an inner schema alone", () => {
  const visible = toVisibleSchema({ type: "object", properties: { a: { description: "x\u200By" } } });

  expect(visible).toEqual({ type: "object", properties: { a: { description: "xy" } } });
});

test("toVisibleSchema() answers with the schema itself if there is nothing hidden", () => {
  const schema = { type: "object", properties: { a: { description: "plain" }, b: true } } as const;

  expect(toVisibleSchema(schema)).toBe(schema);
});
