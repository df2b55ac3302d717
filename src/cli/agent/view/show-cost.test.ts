import { expect, test } from "vitest";

import { renderCostTable, showCount, showDollars } from "./describe-end.ts";

test.for([
  [0, "0"],
  [999, "999"],
  [1000, "1,000"],
  [1234567, "1,234,567"],
] as const)("showCount() writes %i as %s", ([count, text]) => {
  expect(showCount(count)).toBe(text);
});

test.for([
  [undefined, "?"],
  [0, "$0"],
  [0.00001234, "$0.000012"],
  [0.0123, "$0.012"],
  [12.345, "$12.35"],
] as const)("showDollars() writes %d as %s", ([cost, text]) => {
  expect(showDollars(cost)).toBe(text);
});

test("renderCostTable() shows models, the total, and tools below their skill", () => {
  const nothing = { schemaTokens: 0, resultTokens: 0, outputTokens: 0, cost: 0.5 };

  const table = renderCostTable(
    [
      { kind: "model", name: "a/b", calls: 1, ...nothing, inputTokens: 1000, cost: 1, isEstimate: false },
      { kind: "skill", name: "s\u001B[2J", calls: 1, ...nothing, inputTokens: 600, isEstimate: true },
      { kind: "tool", name: "s/t", skill: "s\u001B[2J", calls: 2, ...nothing, inputTokens: 400, isEstimate: true },
    ],
    { style: (_style, text) => text, columns: undefined },
  );

  expect(table).toMatchInlineSnapshot(`
    "SPENT ON    CALLS  TOKENS IN  TOKENS OUT  SHARE  COST
    a/b         1      1,000      0           100 %  $1.00
    total       1      1,000      0           100 %  $1.00
    s\\u001b[2J  3      ≈ 1,000    0           100 %  $1.00
    ↳ s/t       2      ≈ 400      0           40 %   $0.500"
  `);
});

test("renderCostTable() cuts names on a narrow screen, and not numbers", () => {
  const name = "openai-compatible.chat/a-model-with-a-long-name";
  const row = { kind: "model", name, calls: 1, schemaTokens: 0, resultTokens: 0, inputTokens: 1000 } as const;

  const table = renderCostTable([{ ...row, outputTokens: 20, cost: 1, isEstimate: false }], {
    style: (_style, text) => text,
    columns: 60,
  });

  expect(table).toMatchInlineSnapshot(`
    "SPENT ON          CALLS  TOKENS IN  TOKENS OUT  SHARE  COST
    openai-compatib…  1      1,000      20          100 %  $1.00
    total             1      1,000      20          100 %  $1.00"
  `);
});
