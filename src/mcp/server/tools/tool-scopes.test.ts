import { expect, test } from "vitest";

import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { mayCallTool } from "../../../core/scopes.ts";
import type { ToolAnnotations } from "../../../core/tool.ts";
import type { Caller } from "../../../gate/gate.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { guardSession } from "../sessions/guard-session.ts";

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

test("guardSession() is the session itself for who may call everything", async () => {
  const session = (await createFilled()).openSession();

  expect(guardSession(session, { id: "x", scopes: "all" })).toBe(session);
  expect(guardSession(session, callerWith("tools"))).toBe(session);
});

test("guardSession() shows, finds and calls only what the scopes allow", async () => {
  const guarded = guardSession((await createFilled()).openSession(), callerWith("tools:read"));

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

test("guardSession() tells only of changes that the caller sees", async () => {
  const workspace = await createFilled();
  const guarded = guardSession(workspace.openSession(), callerWith("tools:read"));
  const seen: string[][] = [];
  guarded.onChange(({ added }) => void seen.push(added.map(({ address }) => address)));

  workspace.add(tool("erase", { destructive: true }));
  workspace.add(tool("watch", { readOnly: true }));

  expect(seen).toEqual([["watch"]]);
});

test("guardSession() is the same for the same scopes, and does not grow without end", async () => {
  const session = (await createFilled()).openSession();
  const first = guardSession(session, callerWith("tools:read"));

  expect(guardSession(session, callerWith("tools:read"))).toBe(first);
  for (let index = 0; index < 300; index++) guardSession(session, callerWith(`scope-${index}`));

  expect(guardSession(session, callerWith("tools:read")).getAvailableTools()).toHaveLength(1);
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
