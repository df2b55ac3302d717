import { expect, test } from "vitest";
import { hasScope, toScopesKey } from "./scopes.ts";

test("hasScope() lets a caller with all scopes do everything", () => {
  expect(hasScope("all", "tools:pdf")).toBe(true);
});

test.for([
  ["tools", "tools", true],
  ["tools", "tools:pdf", true],
  ["tools", "tools:pdf:merge", true],
  ["tools:pdf", "tools:pdf:merge", true],
  ["tools:pdf", "tools", false],
  ["tools:pdf", "tools:pdfs", false],
  ["tool", "tools", false],
  ["", "tools", false],
  ["all", "tools", false],
  ["tools", "", false],
  ["tools", ":tools", false],
] as const)("hasScope() of a caller with %j asked for %j is %j", ([had, asked, expected]) => {
  const answer = hasScope(new Set([had]), asked);

  expect(answer).toBe(expected);
});

test("toScopesKey() is the same for the same scopes in whatever order, and for no others", () => {
  const keys = [["a", "b"], ["b", "a"], ["a b"], []].map((scopes) => toScopesKey(new Set(scopes)));

  expect(keys[0]).toBe(keys[1]);
  expect(new Set([...keys, toScopesKey("all"), toScopesKey(new Set(["all"]))]).size).toBe(5);
});
