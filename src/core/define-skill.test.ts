import { expect, test } from "vitest";

import { defineSkill } from "./define-skill.ts";
import { defineTool } from "./define-tool.ts";
import { isKitbagError } from "./errors.ts";

const tool = defineTool({ name: "roll", description: "Rolls", run: () => 4 });

test("W8: defineSkill() takes what the source design has", () => {
  const skill = defineSkill({
    name: "my-skill",
    displayName: "My Skill",
    description: "A skill with tools",
    version: "1.0.0",
    capabilities: ["Capability 1"],
    workDirection: "How to use it",
    tools: [tool],
    onActivate: async () => {},
    onDeactivate: async () => {},
  });

  expect(skill).toMatchObject({
    name: "my-skill",
    instructions: "How to use it",
    tools: [tool],
    exclusive: false,
    modelInvocable: true,
  });
  expect(Object.isFrozen(skill)).toBe(true);
});

test("defineSkill() reads the tools that a skill uses, with their versions", () => {
  const { uses, reuses } = defineSkill({
    name: "a",
    description: "A",
    uses: ["b/tool@^1.2", "plugin:c/tool", "clock"],
    reuses: [{ name: "mine", uses: "d/tool", locked: { x: 1 } }],
  });

  expect(uses).toEqual([
    { address: "b/tool", range: "^1.2" },
    { address: "c/tool" },
    { address: "clock" },
    { address: "d/tool" },
  ]);
  expect(reuses).toEqual([{ name: "mine", uses: { address: "d/tool" }, locked: { x: 1 } }]);
});

test("defineSkill() names everything that is wrong at once", () => {
  const wrong = {
    name: "no spaces",
    description: " ",
    version: "one",
    uses: ["a/b/c", 3],
    reuses: [{ name: "x y", uses: "" }],
    requires: ["no spaces", ""],
    permissions: { fly: ["high"] },
    tools: [tool, tool],
    onActivate: "yes",
  };

  expect(() => defineSkill(wrong as never)).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the skill "no spaces": name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found "no spaces"; description: expected a text that says what the skill does, found " "; version: expected a version like 1.2.0, found "one"; requires[0]: expected the name of another skill, found "no spaces"; requires[1]: expected the name of another skill, found ""; onActivate: expected a function, found "yes"; permissions.fly: expected one of read, write, network, env, run, sockets, found an unknown permission; uses[0]: expected an address like "other/tool" or "other/tool@^1.2", found "a/b/c"; uses[1]: expected an address like "other/tool" or "other/tool@^1.2", found 3; reuses[0].name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found "x y"; reuses[0].uses: expected an address like "other/tool" or "other/tool@^1.2", found ""; tools[1]: expected a name that no other tool of the skill has, found "roll"]`,
  );
});

test.for<[given: object, problem: object]>([
  [{ onActivated: () => {} }, { path: "onActivated", didYouMean: "onActivate" }],
  [{ tool: [] }, { path: "tool", didYouMean: "tools" }],
  [{ instructions: "Rhyme." }, { path: "instructions", didYouMean: "workDirection" }],
  [{ zzz: 1 }, { path: "zzz", expected: expect.stringContaining("only name, displayName, description") }],
  [{ "a b": 1 }, { path: '["a b"]' }],
  [JSON.parse('{"__proto__": 1}') as object, { path: "__proto__" }],
  [{ reuses: [{ name: "mine", uses: "d/tool", lockd: {} }] }, { path: "reuses[0].lockd", didYouMean: "locked" }],
  [{ reuses: [{ name: "mine", uses: "d/tool", "a b": {} }] }, { path: 'reuses[0]["a b"]' }],
])("defineSkill() refuses %j, a part that it does not know, and says which one was meant", ([given, problem]) => {
  // A spread, not an assignment: a key of its own called __proto__ stays one.
  const definition = { name: "a", description: "b", ...given };

  const thrown = catchError(() => defineSkill(definition));

  expect(isKitbagError(thrown, "skill-invalid") && thrown.details.problems).toEqual([
    expect.objectContaining({ found: "an unknown part", ...problem }),
  ]);
});

test("defineSkill() refuses the name that means the workspace itself, and one from an object's prototype", () => {
  expect(() => defineSkill({ name: "global", description: "x" })).toThrow("name:");
  expect(() => defineSkill({ name: "__proto__", description: "x" })).toThrow("name:");
  expect(defineSkill({ name: "constructor", description: "x" }).name).toBe("constructor");
});

test("defineSkill() takes what another skill's tool is for here, and the names of skills that must be open", () => {
  const { reuses, requires } = defineSkill({
    name: "a",
    description: "A",
    reuses: [{ name: "mine", uses: "d/tool", description: "Mine" }],
    requires: ["d"],
  });

  expect(reuses).toMatchObject([{ name: "mine", description: "Mine" }]);
  expect(requires).toEqual(["d"]);
});

test.for<[what: string, definition: unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a text", "skill"],
  ["a list", []],
  ["tools that are no list", { name: "a", description: "b", tools: {} }],
  ["uses that are no list", { name: "a", description: "b", uses: "c/d" }],
  ["reuses that are no objects", { name: "a", description: "b", reuses: [null] }],
  ["a tool that is nothing", { name: "a", description: "b", tools: [null, null] }],
  ["a name that cannot be shown", { name: Object.create(null) as unknown, description: "b" }],
])("defineSkill() refuses %s with a KitbagError", ([, definition]) => {
  const thrown = catchError(() => defineSkill(definition as never));

  expect(isKitbagError(thrown, "skill-invalid") && thrown.details.problems.length).toBeGreaterThan(0);
});

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (cause) {
    return cause;
  }
}
