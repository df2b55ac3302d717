import { expect, test } from "vitest";

import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { mayCallTool } from "../../../core/scopes.ts";
import type { ToolAnnotations } from "../../../core/tool.ts";
import type { Caller } from "../../../gate/gate.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { limitSession } from "../../../gate/sessions/limit-session.ts";

test.for<[string, string[]]>([
  ["tools", ["look", "make", "wipe", "pdf/extract"]],
  ["tools:read", ["look"]],
  ["tools:write", ["look", "make", "pdf/extract"]],
  ["tools:of:pdf", ["pdf/extract"]],
  ["tools:of:global", ["look", "make", "wipe"]],
  ["tools:of:global:wipe", ["wipe"]],
  ["tools:of", ["look", "make", "wipe", "pdf/extract"]],
  ["tool", []],
  ["", []],
])("mayCallTool() lets a caller with the scope %o call %o", async ([scope, expected]) => {
  const workspace = await createFilled();

  const allowed = workspace.getAvailableTools().filter((entry) => mayCallTool(callerWith(scope).scopes, entry));

  expect(allowed.map(({ address }) => address)).toEqual(expected);
});

test("limitSession() has the list of the session itself for callers who may call everything", async () => {
  const workspace = await createFilled();
  const session = workspace.openSession();
  const all = session.getAvailableTools();

  expect(limitSession(session, { id: "x", scopes: "all" }, workspace).getAvailableTools()).toBe(all);
  expect(limitSession(session, callerWith("tools"), workspace).getAvailableTools()).toBe(all);
});

test("limitSession() has nothing that another user made and has not shared", async () => {
  const made = { ...tool("shout"), author: { user: "ada", scopes: "all", owner: "ada" } } as const;
  const shared = { ...tool("whisper"), author: { ...made.author, shared: true } };
  const notes = { ...defineSkill({ name: "notes", description: "Notes" }), author: made.author };
  const workspace = createWorkspace({ tools: [made, shared], skills: [notes] });
  const session = workspace.openSession();
  const asSeen = (id: string): unknown => {
    const guarded = limitSession(session, { id, scopes: "all" }, workspace);
    const found = guarded.search("shout whisper notes").map(({ address }) => address);
    return {
      tools: guarded.getAvailableTools().map(({ address }) => address),
      tool: guarded.getTool("shout")?.address,
      skills: guarded.getSkills().map(({ skill }) => skill.name),
      skill: guarded.getSkill("notes")?.name,
      found: found.toSorted(),
    };
  };

  expect(asSeen("ada")).toEqual({
    tools: ["shout", "whisper"],
    tool: "shout",
    skills: ["notes"],
    skill: "notes",
    found: ["notes", "shout", "whisper"],
  });
  const others = { tools: ["whisper"], tool: undefined, skills: [], skill: undefined, found: ["whisper"] };
  expect(asSeen("bob")).toEqual(others);
  expect(asSeen("local")).toEqual(others);
  const bob = limitSession(session, { id: "bob", scopes: "all" }, workspace);
  expect(await bob.activateSkill("notes")).toMatchObject({ error: { code: "skill-not-found" } });
  await expect(bob.invokeSkill("notes")).rejects.toMatchObject({ code: "skill-not-found" });
});

test("limitSession() has no skill of which the caller may call no tool", async () => {
  const workspace = await createFilled();
  const guarded = limitSession(workspace.openSession(), callerWith("tools:of:global"), workspace);

  expect(guarded.getSkills()).toEqual([]);
  expect(await guarded.activateSkill("pdf")).toMatchObject({ error: { code: "skill-not-found" } });
});

test("limitSession() shows, finds and calls only what the scopes allow", async () => {
  const workspace = await createFilled();
  const guarded = limitSession(workspace.openSession(), callerWith("tools:read"), workspace);

  expect(guarded.getAvailableTools().map(({ address }) => address)).toEqual(["look"]);
  expect(guarded.getAvailableTools()).toBe(guarded.getAvailableTools());
  expect([guarded.getTool("wipe"), guarded.getToolSource("wipe")]).toEqual([undefined, undefined]);
  expect([guarded.isToolAvailable("wipe"), guarded.isToolAvailable("look")]).toEqual([false, true]);
  expect(guarded.getActiveSkillTools()).toEqual([]);
  expect(await guarded.call("look")).toMatchObject({ status: "ok" });
  for (const name of ["wipe", "plugin:pdf/extract", "extract", "pdf__extract"]) {
    expect(await guarded.call(name)).toMatchObject({ error: { code: "scope-missing" } });
  }
  expect(await guarded.call("wipe@9.9.9")).toMatchObject({ status: "failed" });
});

test("limitSession() tells only of changes that the caller sees", async () => {
  const workspace = await createFilled();
  const guarded = limitSession(workspace.openSession(), callerWith("tools:read"), workspace);
  const seen: string[][] = [];
  guarded.onChange(({ added }) => void seen.push(added.map(({ address }) => address)));

  workspace.add(tool("erase", { destructive: true }));
  workspace.add(tool("watch", { readOnly: true }));

  expect(seen).toEqual([["watch"]]);
});

test("limitSession() is the same for the same scopes, and does not grow without end", async () => {
  const workspace = await createFilled();
  const session = workspace.openSession();
  const guard = (scope: string): typeof session => limitSession(session, callerWith(scope), workspace);
  const first = guard("tools:read");

  expect(guard("tools:read")).toBe(first);
  for (let index = 0; index < 300; index++) guard(`scope-${index}`);

  expect(guard("tools:read").getAvailableTools()).toHaveLength(1);
});

async function createFilled(): Promise<ReturnType<typeof createWorkspace>> {
  const pdf = defineSkill({ name: "pdf", description: "PDF", tools: [tool("extract")] });
  const tools = [tool("look", { readOnly: true }), tool("make"), tool("wipe", { destructive: true })];
  const workspace = createWorkspace({ tools, skills: [pdf] });
  await workspace.activateSkill("pdf");
  return workspace;
}

function tool(name: string, annotations: ToolAnnotations = {}): ReturnType<typeof defineTool> {
  return defineTool({ name, description: name, annotations, run: () => name });
}

function callerWith(scope: string): Caller {
  return { id: "somebody", scopes: new Set([scope]) };
}
