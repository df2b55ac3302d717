import { expect, test } from "vitest";

import type { CostRow } from "./usage-counter.ts";
import { renderCosts } from "./render-costs.ts";

test("renderCosts() shows models, the total, then what it was spent on, the most first and tools below their skill", () => {
  const lines = renderCosts([
    row({ kind: "model", name: "acme/m", calls: 3, inputTokens: 900, outputTokens: 100, cost: 0.02 }),
    row({ kind: "conversation", name: "conversation", inputTokens: 200, outputTokens: 50, cost: 0.005 }),
    row({ kind: "tool", name: "add", calls: 1, inputTokens: 50, cost: 0.001 }),
    row({ kind: "skill", name: "pdf", calls: 1, inputTokens: 300, outputTokens: 10, cost: 0.006 }),
    row({ kind: "tool", name: "pdf/merge", skill: "pdf", calls: 1, inputTokens: 50, outputTokens: 10, cost: 0.002 }),
    row({ kind: "tool", name: "pdf/extract", skill: "pdf", calls: 2, inputTokens: 200, outputTokens: 30, cost: 0.004 }),
    row({ kind: "tool", name: "pdf/never", skill: "pdf", inputTokens: 60, schemaTokens: 60, cost: 0.001 }),
    row({ kind: "tool", name: "other", inputTokens: 40, schemaTokens: 40, cost: 0.001 }),
  ]);

  expect(lines.map(({ depth, label, calls, share }) => [depth, label, calls, share])).toEqual([
    [0, "acme/m", 3, 1],
    [0, "total", 3, 1],
    [0, "pdf", 4, 0.6],
    [1, "pdf/extract", 2, 0.23],
    [1, "pdf/merge", 1, 0.06],
    [0, "conversation", 0, 0.25],
    [0, "2 tools that were not called", 0, 0.1],
    [0, "add", 1, 0.05],
  ]);
  expect(lines.find(({ label }) => label === "pdf")).toMatchObject({ kind: "skill", cost: 0.012, isEstimate: true });
});

test("renderCosts() shows tools of a component below it", () => {
  const lines = renderCosts([row({ kind: "tool", name: "files/read", skill: "files", calls: 1, inputTokens: 5 })]);

  expect(lines.map(({ depth, label }) => [depth, label])).toEqual([
    [0, "total"],
    [0, "files"],
    [1, "files/read"],
  ]);
});

test("renderCosts() does not know the total when one price is not known", () => {
  const lines = renderCosts([
    row({ kind: "model", name: "acme/a", inputTokens: 1, cost: 1 }),
    row({ kind: "model", name: "acme/b", inputTokens: 1 }),
  ]);

  expect(lines.map(({ cost }) => cost)).toEqual([1, undefined, undefined]);
});

test("renderCosts() shows an empty total of nothing", () => {
  expect(renderCosts([])).toMatchObject([{ kind: "total", inputTokens: 0, cost: 0, share: 0 }]);
});

function row(facts: Partial<CostRow> & Pick<CostRow, "kind" | "name">): CostRow {
  const nothing = { calls: 0, inputTokens: 0, outputTokens: 0, schemaTokens: 0, resultTokens: 0 };
  return { ...nothing, isEstimate: facts.kind !== "model", ...facts };
}
