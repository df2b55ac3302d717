import { expect, test } from "vitest";

import { describeFlags } from "./describe-flags.ts";

test("describeFlags() says what each flag takes", () => {
  const flags = describeFlags({
    type: "object",
    properties: {
      maxItems: { type: "integer", default: 5, description: "how many" },
      tags: { type: "array", items: { type: "string" } },
      isOpen: { type: "boolean" },
      level: { enum: ["low", "high"] },
      filter: { $ref: "#/$defs/filter" },
    },
    required: ["tags"],
    $defs: { filter: { type: "object", properties: { size: { type: "number" } }, required: ["size"] } },
  });

  expect(flags).toEqual([
    { flag: "--max-items", value: "a whole number", required: false, description: "how many; default 5" },
    { flag: "--tags", value: "a list of strings", required: true, description: "may be given again" },
    { flag: "--[no-]is-open", value: "true or false", required: false, description: "" },
    { flag: "--level", value: 'one of "low", "high"', required: false, description: "" },
    { flag: "--filter", value: "an object", required: false, description: "" },
    { flag: "--filter.size", value: "a number", required: true, description: "" },
  ]);
});

test("describeFlags() keeps two parameters apart that look alike as flags", () => {
  const flags = describeFlags({ type: "object", properties: { userName: {}, user_name: {} } });

  expect(flags.map(({ flag }) => flag)).toEqual(["--userName", "--user_name"]);
});

test("describeFlags() stops at the third level of a schema that contains itself", () => {
  const flags = describeFlags({ type: "object", properties: { child: { $ref: "#" } } });

  expect(flags.map(({ flag }) => flag)).toEqual(["--child", "--child.child", "--child.child.child"]);
});
