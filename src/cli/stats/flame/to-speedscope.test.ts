import fc from "fast-check";
import { expect, test } from "vitest";

import { callTree, callTrees } from "../../../../test/support/call-trees.ts";
import { toSpeedscope, type SpeedscopeFile } from "./to-speedscope.ts";

test("toSpeedscope() writes one profile for calls behind each other", () => {
  const tree = callTree("top", [0, 10], [callTree("a", [1, 3]), callTree("a", [4, 5], [], { code: "tool-failed" })]);

  const file = toSpeedscope(tree);

  expect(file).toMatchObject({
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name: "top (top-0)",
    shared: { frames: [{ name: "top" }, { name: "a" }, { name: "a (tool-failed)" }] },
  });
  expect(renderEvents(file)).toEqual(["O top 0, O a 1, C a 4, O a (tool-failed) 4, C a (tool-failed) 9, C top 10"]);
});

test("toSpeedscope() puts calls at the same time into profiles of their own", () => {
  const tree = callTree("top", [0, 10], [callTree("a", [1, 5]), callTree("b", [2, 5]), callTree("c", [7, 1])]);

  expect(renderEvents(toSpeedscope(tree))).toEqual(["O top 0, O a 1, C a 6, O c 7, C c 8, C top 10", "O b 2, C b 7"]);
});

test("toSpeedscope() says which calls were recalled and which have no end", () => {
  const tree = callTree("top", [0, 10], [callTree("a", [1, 3], [], { recalled: true })], { status: "open" });

  expect(toSpeedscope(tree).shared.frames.map(({ name }) => name)).toEqual(["top (no end)", "a (recalled)"]);
});

test("toSpeedscope() writes what speedscope accepts: frames that close in the order they open, and time that goes on", () => {
  fc.assert(
    fc.property(callTrees, (tree) => {
      const file = toSpeedscope(tree);

      for (const { events, endValue } of file.profiles) {
        const open: number[] = [];
        let at = 0;
        for (const event of events) {
          expect(event.at).toBeGreaterThanOrEqual(at);
          at = event.at;
          if (event.type === "O") open.push(event.frame);
          else expect(open.pop()).toBe(event.frame);
        }
        expect(open).toEqual([]);
        expect(at).toBeLessThanOrEqual(endValue);
      }
    }),
  );
});

function renderEvents({ profiles, shared }: SpeedscopeFile): string[] {
  return profiles.map(({ events }) =>
    events.map(({ type, frame, at }) => `${type} ${shared.frames[frame]?.name ?? ""} ${at}`).join(", "),
  );
}
