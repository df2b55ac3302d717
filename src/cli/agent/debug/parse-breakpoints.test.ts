import { expect, test } from "vitest";

import { parseBreakpoints } from "./parse-breakpoints.ts";

test("parseBreakpoints() reads steps and tools, and stops nowhere unless somebody debugs", () => {
  const places = ["step:3", "tool:csv-report/group_by"];

  const read = parseBreakpoints({ options: { debug: true, break: places }, json: false });
  const none = parseBreakpoints({ options: {}, json: true });

  expect(read).toEqual([{ step: 3 }, { tool: "csv-report/group_by" }]);
  expect(none).toBeUndefined();
});

test.for(["", "step", "step:", "step:0", "step:-1", "step:1e9", "step:3 4", "tool:", "tool: x", "__proto__:1", "3"])(
  "parseBreakpoints() refuses %j",
  (place) => {
    expect(() => parseBreakpoints({ options: { debug: true, break: [place] }, json: false })).toThrow(
      "expected step:N, as in step:3, or tool:ADDRESS",
    );
  },
);
