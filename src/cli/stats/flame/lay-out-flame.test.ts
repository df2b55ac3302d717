import fc from "fast-check";
import { expect, test } from "vitest";

import { callTree, callTrees } from "../../../../test/support/call-trees.ts";
import { layOutFlame, listCalls } from "./render-flame.ts";

test("layOutFlame() puts calls below their caller, and those at the same time below each other", () => {
  const tree = callTree(
    "top",
    [0, 10],
    [callTree("a", [1, 5], [callTree("inner", [2, 1])]), callTree("b", [2, 5]), callTree("c", [7, 1])],
  );

  const { boxes, rows, left } = layOutFlame(tree);

  expect(boxes.map(({ call, row }) => `${call.tool} ${row}`)).toEqual(["top 0", "a 1", "inner 2", "b 3", "c 1"]);
  expect({ rows, left }).toEqual({ rows: 4, left: 0 });
});

test("layOutFlame() draws every call once, and no two of them over each other", () => {
  fc.assert(
    fc.property(callTrees, (tree) => {
      const { boxes, rows } = layOutFlame(tree);

      expect(new Set(boxes.map(({ call }) => call))).toEqual(new Set(listCalls(tree)));
      for (let row = 0; row < rows; row++) {
        const inRow = boxes.filter((box) => box.row === row).map(({ call }) => call);
        const sorted = inRow.toSorted((one, other) => one.startMs - other.startMs || one.durationMs - other.durationMs);
        for (const [index, { startMs }] of sorted.entries()) {
          const before = sorted[index - 1];
          if (before !== undefined) expect(startMs).toBeGreaterThanOrEqual(before.startMs + before.durationMs);
        }
      }
    }),
  );
});

test("layOutFlame() leaves out the shortest of too many calls, and keeps the callers of what it draws", () => {
  const many = Array.from({ length: 6000 }, (_, index) => callTree("a", [index, (index % 100) / 100]));
  const tree = callTree("top", [0, 6000], [callTree("mid", [0, 6000], many)]);

  const { boxes, left } = layOutFlame(tree);

  expect(boxes).toHaveLength(5000);
  expect(left).toBe(1002);
  expect(boxes[1]?.call.tool).toBe("mid");
});
