import { expect, test } from "vitest";

import type { JsonSchema } from "./json-schema.ts";
import { branchesOf, choicesOf, findBranches, rankBranches } from "./rank-branches.ts";

const circle: JsonSchema = object({ kind: { const: "circle" }, radius: { type: "number" } }, ["kind", "radius"]);
const square: JsonSchema = object({ kind: { const: "square" }, side: { type: "number" } }, ["kind", "side"]);

test("rankBranches() puts the branch first whose fixed property the value has", () => {
  const ranked = rankBranches({}, [circle, square], { kind: "square", radius: 1 });

  expect(ranked.map(({ branch }) => branch)).toEqual([square, circle]);
});

test("rankBranches() puts the branch first that has the properties of the value", () => {
  const named = object({ name: {}, size: {} }, ["name"]);
  const listed = object({ list: {} }, ["list"]);

  expect(rankBranches({}, [listed, named], { name: 1, size: 2 })[0]?.branch).toBe(named);
  expect(rankBranches({}, [listed, named], { list: [], other: 1 })[0]?.branch).toBe(listed);
});

test("rankBranches() puts a branch last that has none of the properties of the value", () => {
  const anything = { type: "object" };
  const named = { type: "object", properties: { name: {} } };

  expect(rankBranches({}, [anything, named], { name: 1 }).map(({ branch }) => branch)).toEqual([named, anything]);
});

test("rankBranches() leaves out branches of another type or with other values", () => {
  const branches = [{ type: "string" }, { type: ["number", "null"] }, { const: "a" }, { enum: [1, 2] }, {}];

  expect(rankBranches({}, branches, 5).map(({ branch }) => branch)).toEqual([branches[1], branches[3], branches[4]]);
});

test("rankBranches() looks through references, also of the property that tells branches apart", () => {
  const root = {
    $defs: {
      circle: object({ kind: { $ref: "#/$defs/kind" } }, ["kind"]),
      kind: { const: "circle" },
    },
  };

  const [best] = rankBranches(root, [square, { $ref: "#/$defs/circle" }], { kind: "circle" });

  expect(best?.branch).toBe(root.$defs.circle);
});

test("findBranches() takes branches inside branches for branches", () => {
  const inner = { anyOf: [{ type: "string" }, { oneOf: [{ type: "number" }] }] };

  expect(findBranches({}, [inner, { type: "null" }, true])).toEqual([
    { type: "string" },
    { type: "number" },
    { type: "null" },
  ]);
});

test("findBranches() keeps a branch that says its type and has branches beside it", () => {
  const branch = { type: "object", anyOf: [{ required: ["a"] }] };

  expect(findBranches({}, [branch])).toEqual([branch]);
});

test("branchesOf() gives what stands under anyOf or oneOf", () => {
  expect([{ anyOf: [1] }, { oneOf: [2] }, { allOf: [3] }, { anyOf: "wrong" }].map(branchesOf)).toEqual([
    [1],
    [2],
    undefined,
    undefined,
  ]);
});

test("choicesOf() gives the values that a schema lists", () => {
  expect([{ enum: [1, 2] }, { const: null }, { const: undefined }, {}, true].map(choicesOf)).toEqual([
    [1, 2],
    [null],
    [undefined],
    undefined,
    undefined,
  ]);
});

function object(properties: JsonSchema, required: string[]): JsonSchema {
  return { type: "object", properties, required };
}
