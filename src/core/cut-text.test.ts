import { expect, test } from "vitest";

import { cutText, shortenText } from "./cut-text.ts";

test("cutText() leaves a text alone that is short enough", () => {
  expect(cutText("", 3)).toBe("");
  expect(cutText("abc", 3)).toBe("abc");
});

test("cutText() never cuts a character in two, wherever it cuts", () => {
  const text = "a🙂b🙂🙂";

  const cuts = Array.from({ length: text.length + 1 }, (_, length) => cutText(text, length));

  expect(cuts).toEqual(["", "a", "a", "a🙂", "a🙂b", "a🙂b", "a🙂b🙂", "a🙂b🙂", "a🙂b🙂🙂"]);
});

test("shortenText() marks with an ellipsis that something was cut off", () => {
  expect([shortenText("abc", 3), shortenText("abcd", 3)]).toEqual(["abc", "abc…"]);
});
