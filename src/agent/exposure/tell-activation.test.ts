import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Tool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import { readActivation, tellActivation } from "./tell-activation.ts";

test("tellActivation() answers with text, and says once what tools have in common", async () => {
  const opened: string[] = [];
  const activate = activateIn(
    [tool("list", "The most to answer with"), tool("find", "The most to answer with")],
    opened,
  );

  const outcome = await activate({ name: "notes" });

  expect(outcome).toEqual({
    status: "ok",
    output: [
      "Read, then write.",
      "",
      "Tools, to be called with call_tool:",
      "notes__list: Does list",
      "{",
      "limit?: number // The most to answer with",
      "}",
      "notes__find: Does find",
      "{",
      "limit?: number",
      "}",
    ].join("\n"),
  });
  expect(opened).toEqual(["notes"]);
});

test("tellActivation() says what is different of parameters with the same name", async () => {
  const activate = activateIn([tool("list", "The most to answer with"), tool("find", "Where to stop")]);

  const outcome = await activate({ name: "notes" });

  expect(outcome).toMatchObject({ output: expect.stringContaining("limit?: number // Where to stop") });
});

test("tellActivation() of a skill without tools is its instructions", async () => {
  const outcome = await activateIn([])({ name: "notes" });

  expect(outcome).toEqual({ status: "ok", output: "Read, then write." });
});

test("tellActivation() leaves a failure as it is, and other tools too", async () => {
  const opened: string[] = [];

  const outcome = await activateIn([], opened)({ name: "missing" });
  const others = createDispatchTools(createWorkspace().openSession()).filter(({ name }) => name !== "activate_skill");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "skill-not-found" } });
  expect(opened).toEqual([]);
  expect(others.map((other) => tellActivation(other))).toEqual(others);
});

test("readActivation() finds the declarations, whatever stands around them", () => {
  const text = [
    "Say __name__: so.",
    "",
    "Tools, to be called with call_tool:",
    "notes__list: Lists",
    "",
    "as much as there is",
    "{",
    "a__b?: number",
    "}",
    "notes__find: Finds",
    "{}",
    "",
    "Closed: other",
  ].join("\n");

  expect(readActivation(text)).toEqual([
    { name: "notes__list", text: "notes__list: Lists\n\nas much as there is\n{\na__b?: number\n}" },
    { name: "notes__find", text: "notes__find: Finds\n{}" },
  ]);
  expect(readActivation("notes__list: Lists")).toEqual([]);
});

function activateIn(tools: readonly Tool[], opened: string[] = []): (input: { name: string }) => Promise<unknown> {
  const notes = defineSkill({
    name: "notes",
    description: "Notes",
    workDirection: "Read, then write.",
    tools: [...tools],
  });
  const session = createWorkspace({ skills: [notes] }).openSession();
  const [activate] = createDispatchTools(session)
    .filter(({ name }) => name === "activate_skill")
    .map((one) => tellActivation(one, (skill) => opened.push(skill)));
  return async (input) => activate?.run(input, {});
}

function tool(name: string, limit: string): Tool {
  const properties = { limit: { type: "number", description: limit } } as const;
  return defineTool({ name, description: `Does ${name}`, input: { type: "object", properties }, run: () => 1 });
}
