import { expect, onTestFinished, test, vi } from "vitest";

import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Skill } from "../core/skill.ts";
import type { Tool } from "../core/tool.ts";
import { createWorkspace } from "./create-workspace.ts";

test("getAvailableTools() answers the same array until something changes in it", async () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "a")] });
  const first = workspace.getAvailableTools();

  workspace.replaceSkill(skillWith("pdf", "b"));
  workspace.add(toolNamed("gone"));
  workspace.remove("gone");
  const unchanged = workspace.getAvailableTools();
  await workspace.activateSkill("pdf");
  const opened = workspace.getAvailableTools();
  await workspace.activateSkill("pdf");
  const again = workspace.getAvailableTools();

  expect(unchanged).toBe(first);
  expect(opened).not.toBe(first);
  expect(again).toBe(opened);
  expect(opened.map(({ address }) => address)).toEqual(["clock", "pdf/b"]);
});

test("getAvailableTools() answers another array when a tool is replaced by one that looks the same", () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")] });
  const first = workspace.getAvailableTools();

  workspace.replace(toolNamed("clock"));

  expect(workspace.getAvailableTools()).not.toBe(first);
});

test("getAvailableTools() answers the old array after a change that failed, also if somebody looked in between", () => {
  const workspace = createWorkspace({ tools: [toolNamed("one"), toolNamed("two")] });
  const first = workspace.getAvailableTools();
  let between: unknown[] = [];

  expect(() =>
    workspace.change(() => {
      workspace.remove("one");
      between = workspace.getAvailableTools().map(({ address }) => address);
      throw new Error("no");
    }),
  ).toThrow("no");

  expect(between).toEqual(["two"]);
  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(["one", "two"]);
  expect(workspace.getAvailableTools()).toEqual(first);
});

test("getAvailableTools() answers an array that nobody can change for the others", () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")] });

  expect(() => (workspace.getAvailableTools() as unknown[]).push("mine")).toThrow(TypeError);
});

test("getAvailableTools() answers another array when a breaker takes a tool out, and when it comes back", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const fails = defineTool({ name: "fails", description: "Fails", run: () => Promise.reject(new Error("no")) });
  const workspace = createWorkspace({ tools: [fails, toolNamed("clock")], breaker: { failures: 1, openMs: 20_000 } });
  const session = workspace.openSession();
  const before = session.getAvailableTools();

  await session.call("fails");
  const without = session.getAvailableTools();
  await vi.advanceTimersByTimeAsync(20_001);
  const after = session.getAvailableTools();

  expect(without.map(({ address }) => address)).toEqual(["clock"]);
  expect(after).toEqual(before);
  expect(after).not.toBe(without);
});

test("a session that has opened and closed nothing shares the array of the workspace", () => {
  const workspace = createWorkspace({ tools: [toolNamed("clock")] });
  const sessions = [workspace.openSession(), workspace.openSession()];

  expect(sessions[0]?.getAvailableTools()).toBe(workspace.getAvailableTools());
  workspace.add(toolNamed("late"));
  expect(sessions[1]?.getAvailableTools()).toBe(workspace.getAvailableTools());
  expect(sessions[0]?.getAvailableTools()).toBe(workspace.getAvailableTools());
});

test("sessions with the same skills open share an array, in whatever order they opened them", async () => {
  const workspace = createWorkspace({ skills: [skillWith("pdf", "a"), skillWith("csv", "b")] });
  const [one, other] = [workspace.openSession(), workspace.openSession()];

  for (const name of ["pdf", "csv"]) await one.activateSkill(name);
  for (const name of ["csv", "pdf"]) await other.activateSkill(name);

  expect(one.getAvailableTools()).toBe(other.getAvailableTools());
  expect(one.getAvailableTools().map(({ address }) => address)).toEqual(["pdf/a", "csv/b"]);
});

test("what one session does leaves the arrays of the others as they are", async () => {
  const reuse = defineSkill({ name: "office", description: "Office", reuses: [{ name: "take", uses: "pdf/a" }] });
  const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "a"), reuse] });
  const [one, other, third] = [workspace.openSession(), workspace.openSession(), workspace.openSession()];
  await other.activateSkill("pdf");
  const before = [workspace, other, third].map((holder) => holder.getAvailableTools());

  await one.activateSkill("office");
  one.getAvailableTools();
  await one.close();

  expect([workspace, other, third].map((holder) => holder.getAvailableTools())).toEqual(before);
  expect([workspace, other, third].every((holder, index) => holder.getAvailableTools() === before[index])).toBe(true);
});

test("more combinations of open skills than are known at once are no reason to answer another array", async () => {
  const skills = Array.from({ length: 11 }, (_, index) => skillWith(`s${index}`, "t"));
  const workspace = createWorkspace({ skills });
  const sessions = await Promise.all(
    Array.from({ length: 1100 }, async (_, number) => {
      const session = workspace.openSession();
      for (const [index, { name }] of skills.entries())
        if ((number >> index) % 2 === 1) await session.activateSkill(name);
      return session;
    }),
  );

  const first = sessions.map((session) => session.getAvailableTools());
  workspace.replaceSkill(skillWith("s10", "t"));
  const second = sessions.map((session) => session.getAvailableTools());

  expect(new Set(first).size).toBe(1100);
  expect(first.filter((tools, index) => tools === second[index])).toHaveLength(1024);
});

function skillWith(name: string, tool: string): Skill {
  return defineSkill({ name, description: `About ${name}`, tools: [toolNamed(tool)] });
}

function toolNamed(name: string): Tool {
  return defineTool({ name, description: `Does ${name}`, run: () => name });
}
