import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { toDefinedSkill } from "./to-defined-skill.ts";

const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
const skill = defineSkill({
  name: "dice",
  description: "Games of chance",
  tools: [roll],
  uses: ["other/tool@^1.2"],
  reuses: [{ name: "say", uses: "other/print" }],
});

test("toDefinedSkill() takes what defineSkill makes", () => {
  expect(toDefinedSkill(skill, "dice")).toEqual(skill);
});

test("toDefinedSkill() takes over nothing that says where a skill is or whether it is trusted", () => {
  const trust = { status: "trusted" };
  const bold = { ...skill, folder: { directory: "/", trust }, render: () => "", mentions: ["x/y"], other: 1 };

  expect(toDefinedSkill(bold, "dice")).toEqual(skill);
});

test.for([
  ["nothing", undefined],
  ["null", null],
  ["a number", 7],
  ["a text", "dice"],
  ["a function", () => skill],
  ["a list", [skill]],
  ["a promise", Promise.resolve(skill)],
  ["a class instance", new Date()],
  ["what goes into defineSkill", { name: "dice", description: "Games", tools: [] }],
])("toDefinedSkill() refuses %s, and says what to write", ([, value]) => {
  expect(() => toDefinedSkill(value, "dice")).toThrow(/Cannot define the skill "dice": .*export default defineSkill/u);
});

test.for([
  ["name", "no name"],
  ["name", undefined],
  ["displayName", 1],
  ["description", "  "],
  ["version", 1],
  ["capabilities", [1]],
  ["tools", "roll"],
  ["uses", [{}]],
  ["uses", [{ address: "a/b", range: 1 }]],
  ["reuses", [{ name: "a b", uses: { address: "a/b" }, locked: {} }]],
  ["reuses", [{ name: "a", uses: { address: "a/b" }, locked: 1 }]],
  ["requires", [null]],
  ["exclusive", "yes"],
  ["permissions", []],
  ["permissions", { fly: [] }],
  ["modelInvocable", 1],
  ["onActivate", true],
  ["onDeactivate", {}],
] as const)("toDefinedSkill() refuses a skill whose %s is %j", ([part, value]) => {
  expect(() => toDefinedSkill({ ...skill, [part]: value }, "dice")).toThrow(
    expect.objectContaining({ code: "skill-invalid", message: expect.stringContaining(part) as string }),
  );
});

test.for([[[null]], [[{}]], [[{ ...roll, name: "__proto__" }]], [[{ ...roll, code: { kind: 1 } }]]])(
  "toDefinedSkill() refuses tools that are none: %j",
  ([tools]) => {
    expect(() => toDefinedSkill({ ...skill, tools }, "dice")).toThrow(
      expect.objectContaining({ code: "tool-invalid" }),
    );
  },
);
