import { expect, test } from "vitest";

import { renderQuantiles, renderSparkline } from "./render-stats.ts";

test("renderSparkline() draws numbers as columns, the highest as a full one", () => {
  expect(renderSparkline([0, 1, 4, 8, 5, 2, 0])).toBe("·▂▅█▆▃·");
});

test("renderSparkline() draws small numbers beside large ones, and no numbers as nothing", () => {
  expect(renderSparkline([1, 1_000_000])).toBe("▁█");
  expect(renderSparkline([0, 0])).toBe("··");
  expect(renderSparkline([])).toBe("");
});

test("renderQuantiles() draws three shares into one bar", () => {
  expect(renderQuantiles([0.25, 0.5, 1], 8)).toBe("██▓▓░░░░");
  expect(renderQuantiles([1, 1, 1], 4)).toBe("████");
  expect(renderQuantiles([0, 0, 0.5], 4)).toBe("░░");
});

test("renderQuantiles() shows what is too small to be seen, and nothing as nothing", () => {
  expect(renderQuantiles([0.001, 0.002, 0.003], 8)).toBe("▏");
  expect(renderQuantiles([0, 0, 0], 8)).toBe("");
});
