import { expect, test } from "vitest";

import { parseTraceState } from "./tracing.ts";

test("parseTraceState() reads members, and writes them the same way", () => {
  const state = parseTraceState("vendor=1, other@x=a b");

  expect(state.get("vendor")).toBe("1");
  expect(state.get("other@x")).toBe("a b");
  expect(state.get("__proto__")).toBeUndefined();
  expect(state.serialize()).toBe("vendor=1,other@x=a b");
});

test("parseTraceState() puts what was changed last first, and changes nothing in place", () => {
  const state = parseTraceState("a=1,b=2");

  expect(state.set("b", "3").serialize()).toBe("b=3,a=1");
  expect(state.unset("a").serialize()).toBe("b=2");
  expect(state.serialize()).toBe("a=1,b=2");
});

test.for([
  ["", ""],
  ["a", ""],
  ["=1,a=", ""],
  ["A=1,b=2", "b=2"],
  ["a=1=2,b=\u0007,c=ok", "c=ok"],
  ["__proto__=1,b=2", "b=2"],
])("parseTraceState() leaves out what is wrong in %j", ([text = "", expected]) => {
  expect(parseTraceState(text).serialize()).toBe(expected);
});

test("parseTraceState() takes 32 members, and no text that is too long", () => {
  const many = Array.from({ length: 40 }, (_, index) => `k${index}=1`).join(",");

  expect(parseTraceState(many).serialize().split(",")).toHaveLength(32);
  expect(parseTraceState(`a=1,${" ".repeat(9000)}`).serialize()).toBe("");
});
