import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("search() finds a tool by its parameters and what is said about them", () => {
  const resize = defineTool({
    name: "resize",
    title: "Picture size",
    description: "Changes a file",
    input: { properties: { width: { type: "number", description: "in pixels" }, quality: { type: "number" } } },
    run: () => null,
  });
  const workspace = createWorkspace({
    tools: [resize, defineTool({ name: "clock", description: "Tells the time", run: () => 1 })],
  });

  for (const query of ["pixels", "quality", "picture"]) {
    expect(workspace.search(query).map((item) => item.address)).toEqual(["resize"]);
  }
});

test("search() finds a skill by its name for people, its capabilities and its instructions", () => {
  const skill = defineSkill({
    name: "docs",
    displayName: "Paper mill",
    description: "Works on documents",
    capabilities: ["watermarks"],
    workDirection: "Begin with the embargo.",
  });
  const workspace = createWorkspace({ skills: [skill] });

  for (const query of ["mill", "watermark", "embargo"]) {
    expect(workspace.search(query, { kind: "skill" }).map((item) => item.address)).toEqual(["docs"]);
  }
});

test("search() knows a skill that was added or replaced just now", () => {
  const workspace = createWorkspace();
  workspace.search("anything");

  workspace.addSkill(defineSkill({ name: "poems", description: "Sonnets" }));
  const added = workspace.search("sonnets");
  workspace.replaceSkill(defineSkill({ name: "poems", description: "Ballads" }));

  expect(added).toHaveLength(1);
  expect(workspace.search("ballads")).toHaveLength(1);
  expect(workspace.search("sonnets")).toHaveLength(0);
});

test("search() finds a tool whose schema says nothing about its parameters, or not in words", () => {
  const plain = defineTool({ name: "send", description: "Sends a telegram", run: () => 1 });
  const bare = { ...plain, inputSchema: { type: "object" } };
  const open = { ...plain, name: "wire", inputSchema: { type: "object", properties: { payload: true } } };
  const workspace = createWorkspace({ tools: [bare, open] });

  expect(workspace.search("telegram").map((item) => item.address)).toEqual(["send", "wire"]);
  expect(workspace.search("payload").map((item) => item.address)).toEqual(["wire"]);
});
