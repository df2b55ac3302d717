import { existsSync } from "node:fs";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { countWords, openTestForge, openTestRuntimes, type TestForge } from "../../../test/support/open-test-forge.ts";
import type { JsonObject } from "../../core/json.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createStepTool } from "./create-step-tool.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const { examples, ...tool } = countWords;

test("create_skill_step leads from a purpose to a skill that is live", async () => {
  const { workspace, directory } = await openWithTool();
  const steps = [
    { purpose: "Counts words. Use it when somebody asks how long a text is." },
    { name: "word-counter" },
    { instructions: "Call plugin:word-counter/count-words and say the number." },
    { tools: [tool] },
    { permissions: {} },
    { examples: { "count-words": examples } },
  ] as const;
  const told: unknown[] = [];
  let id: string | undefined;

  for (const step of steps) {
    const answer = await take(workspace, { ...step, ...(id !== undefined && { id }) });
    id = answer["id"] as string;
    told.push(answer["step"]);
  }
  const live = await take(workspace, { id: id ?? "", action: "live" });
  await workspace.activateSkill("word-counter");
  const called = await workspace.call("word-counter/count-words", { text: "a b" });

  expect(told).toEqual(["name", "instructions", "tools", "permissions", "examples", "checks"]);
  expect(live).toMatchObject({ step: "live", status: "live", tools: ["word-counter/count-words"] });
  expect(called).toMatchObject({ status: "ok", output: { words: 2 } });
  expect(existsSync(join(directory, ".kitbag/skills/word-counter/SKILL.md"))).toBe(true);
});

test("create_skill_step says what was understood, what is wrong, what is missing and what comes next", async () => {
  const { workspace } = await openWithTool();

  const answer = await take(workspace, { purpose: "Counts words", name: "../Evil", tools: [{ ...tool, name: "a b" }] });

  expect(answer).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/u) as string,
    step: "name",
    understood: { purpose: "Counts words" },
    problems: [
      { part: "name", message: expect.stringContaining("a name is letters") as string },
      { part: "tools", message: expect.stringContaining("a name is letters") as string },
    ],
    missing: ["name", "instructions", "tools"],
    next: expect.stringContaining("Repair what") as string,
  });
});

test("create_skill_step goes back: a part that is given again replaces the one before, a wrong one does not", async () => {
  const { workspace } = await openWithTool();
  const { id } = await take(workspace, { purpose: "One", name: "one", tools: [countWords] });

  const renamed = await take(workspace, { id, name: "two" });
  const wrong = await take(workspace, { id, name: "Not A Name" });
  const without = await take(workspace, { id, tools: [] });

  expect(renamed).toMatchObject({ understood: { name: "two", examples: { "count-words": 1 } } });
  expect(wrong).toMatchObject({ understood: { name: "two" }, problems: [{ part: "name" }] });
  expect(without).toMatchObject({ understood: { name: "two", tools: [], examples: {} }, missing: ["instructions"] });
});

test("create_skill_step goes on in another client after a restart", async () => {
  const store = memoryStore();
  const first = await openWithTool(store);
  const { id } = await take(first.workspace, { purpose: "Greets people", name: "greeter" });
  const second = await openWithTool(store);

  const answer = await take(second.workspace, { id, instructions: "Say hello.", tools: [], action: "live" });

  expect(answer).toMatchObject({ step: "live", status: "live", name: "greeter" });
});

test("create_skill_step does not mix two that are made at once, and loses nothing that is said at the same time", async () => {
  const { workspace } = await openWithTool();
  const [one, two] = await Promise.all([take(workspace, { purpose: "One" }), take(workspace, { purpose: "Two" })]);

  await Promise.all([
    take(workspace, { id: one["id"], name: "one" }),
    take(workspace, { id: two["id"], name: "two" }),
    take(workspace, { id: one["id"], instructions: "Do one." }),
  ]);
  const shown = await Promise.all([one, two].map(({ id }) => take(workspace, { id, action: "show" })));

  expect(shown).toMatchObject([
    { understood: { purpose: "One", name: "one", instructions: '1 line, beginning with "Do one."' } },
    { understood: { purpose: "Two", name: "two" }, missing: ["instructions", "tools"] },
  ]);
});

test("create_skill_step is forgotten after a week, and when it is dropped", async () => {
  let time = 1_000_000;
  const { workspace } = await openWithTool(memoryStore({ now: () => time }));
  const old = await take(workspace, { purpose: "Old" });
  const dropped = await take(workspace, { purpose: "Dropped" });

  await take(workspace, { id: dropped["id"], action: "drop" });
  time += 7 * 24 * 60 * 60 * 1000 + 1;
  const outcomes = await Promise.all(
    [old["id"], dropped["id"], "__proto__", "0".repeat(24)].map((id) => workspace.call("create_skill_step", { id })),
  );

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
    expect(outcome.status === "failed" && outcome.error.message).toContain("begin anew");
  }
});

test("create_skill_step makes nothing live that lacks something or fails at the gate, and says which part to change", async () => {
  const { workspace, directory } = await openWithTool();
  const { id } = await take(workspace, { purpose: "Counts words", name: "counter", instructions: "Count." });

  const early = await take(workspace, { id, action: "live" });
  const wrongInput = await take(workspace, {
    id,
    tools: [tool],
    examples: { "count-words": [{ input: { txt: "a" } }] },
  });
  const other = await take(workspace, { id, examples: { nobody: examples } });
  const failing = await take(workspace, {
    id,
    permissions: {},
    examples: { "count-words": [{ input: { text: "a" }, output: { words: 7 } }] },
    action: "live",
  });

  expect(early).toMatchObject({ step: "tools", problems: [{ part: "tools", message: "tools: it is missing" }] });
  expect(wrongInput["problems"]).toEqual([
    { part: "examples", message: "examples, count-words[0].input: text: expected a string, found nothing" },
  ]);
  expect(other).toMatchObject({ problems: [{ message: 'examples: there is no tool "nobody" in this skill' }] });
  expect(failing).toMatchObject({ step: "examples", problems: [{ part: "examples" }, { part: "examples" }] });
  expect(existsSync(join(directory, ".kitbag/skills/counter"))).toBe(false);
});

test("create_skill_step waits for a person if a tool wants more than the policy grants, and is live once they agree", async () => {
  const { workspace, forge } = await openWithTool();
  const { examples, ...tool } = countWords;
  const asked = await take(workspace, {
    purpose: "Counts words",
    name: "counter",
    instructions: "Count.",
    tools: [tool],
    permissions: { "count-words": { network: ["api.example.com"] } },
    examples: { "count-words": examples },
    action: "live",
  });
  const { id, approval } = asked as { id: string; approval: string };

  const still = await take(workspace, { id, action: "show" });
  await forge.approve(approval);
  const live = await take(workspace, { id, action: "show" });

  expect(asked).toMatchObject({ step: "live", status: "waiting", asks: { network: ["api.example.com"] } });
  expect(still).toMatchObject({ id, step: "checks", problems: [] });
  expect(live).toMatchObject({ id, step: "live", status: "live", name: "counter" });
});

test("create_skill_step refuses a name that is taken, and tells again what is live when it is asked again", async () => {
  const { workspace } = await openWithTool();
  const whole = { purpose: "Greets", name: "greeter", instructions: "Say hello.", tools: [], action: "live" } as const;
  const made = await take(workspace, whole);

  const again = await take(workspace, { id: made["id"], action: "live" });
  const twin = await take(workspace, whole);

  expect(again).toEqual(made);
  expect(twin).toMatchObject({
    step: "name",
    problems: [{ message: expect.stringContaining("already") as string }, {}],
  });
});

async function openWithTool(store = memoryStore()): Promise<TestForge> {
  const place = await openTestForge(runtimes, { store });
  place.workspace.add(createStepTool(place.forge));
  return place;
}

async function take(workspace: Workspace, input: object): Promise<JsonObject> {
  const outcome = await workspace.call("create_skill_step", input);
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  return outcome.output as JsonObject;
}
