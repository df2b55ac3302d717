import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Tool } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { ReplayReport } from "./replay-run.ts";

const dot = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

test("replay() tells what is different in the last question too", async () => {
  const store = memoryStore();
  const { run } = await createTestAgent(["Done"], { store }).run("Go").result;

  const report = await createTestAgent(["Done"], { store, instructions: "Be brief" }).replay(run);

  expect(report).toMatchObject({
    status: "diverged",
    divergence: { step: 1, what: "the model is shown another system text" },
  });
});

test("replay() says which tools are new, gone and described otherwise, also behind a skill that was opened", async () => {
  const store = memoryStore();
  const open: MockScript = [{ calls: [{ tool: "activate_skill", input: { name: "extra" } }] }, "Done"];
  const { run } = await createTestAgent(open, { store }).run("Go").result;
  const replayIn = (tools: readonly Tool[], extra: readonly Tool[]): Promise<ReplayReport> => {
    const skills = [defineSkill({ ...extraSkill, tools: extra })];
    return createTestAgent([], { store, workspace: createWorkspace({ tools, skills }) }).replay(run);
  };

  expect(await replayIn([toTool("drip"), { ...drop, description: "Drops it" }], [tell])).toMatchObject({
    steps: 0,
    divergence: {
      what: "the model is shown other tools: drip is new; drop is described otherwise",
      expected: "list_skills, read_skill_file, activate_skill, deactivate_skill, drop",
      found: "list_skills, read_skill_file, activate_skill, deactivate_skill, drip, drop",
    },
  });
  expect(await replayIn([drop], [toTool("whisper")])).toMatchObject({
    steps: 1,
    divergence: { what: "the model is shown other tools: extra__whisper is new; extra__tell is gone" },
  });
  expect(await replayIn([drop], [tell])).toMatchObject({ status: "same", steps: 2 });
});

test("replay() of a run that was stopped before the first answer, or whose model failed, is the same as far as it goes", async () => {
  const agent = createTestAgent(
    [{ error: new Error("out of order") }, { calls: [{ tool: "none" }] }, { error: new Error("again") }],
    {
      retries: false,
    },
  );
  const none = await agent.run("Go").result;
  const one = await agent.run("Go").result;

  expect(await agent.replay(none.run)).toEqual({ run: none.run, status: "same", steps: 0 });
  expect(await agent.replay(one.run)).toEqual({ run: one.run, status: "same", steps: 1 });
});

test("replay() costs nothing", async () => {
  const agent = createTestAgent(["Done"]);
  const { run } = await agent.run("Go").result;
  const before = agent.totalTokens;

  await agent.replay(run);

  expect(before).toBeGreaterThan(0);
  expect(agent.totalTokens).toBe(before);
});

test("replay() says again what was said before the first question", async () => {
  const agent = createTestAgent(["Done"]);
  const run = agent.run("Go");
  run.steer("Be quick");
  await run.result;

  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 1 });
});

test("replay() says again what was said after an answer that was cut", async () => {
  const agent = createTestAgent([{ text: "Half", finishReason: "interrupted" }, "Done"]);
  const run: AgentRun = agent.run("Go", {
    onEvent: (event) => event.type === "model-answer" && event.step === 1 && run.steer("Be quick"),
  });
  await run.result;

  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 2 });
});

test("replay() of a run with pictures is the same", async () => {
  const agent = createTestAgent(["A dot"]);
  const { run } = await agent.run("What is it?", { images: [dot] }).result;
  const bytes = await agent.run([
    {
      role: "user",
      content: [{ type: "file", mediaType: "image/gif", data: { type: "data", data: new Uint8Array(dot) } }],
    },
  ]).result;

  expect(await agent.replay(run)).toMatchObject({ status: "same" });
  expect(await agent.replay(bytes.run)).toMatchObject({ status: "same" });
});

test("replay() of a run whose calls somebody approved goes to its end", async () => {
  const agent = createTestAgent([{ calls: [{ tool: "drop" }] }, "Done"], { approve: () => ({ decision: "approve" }) });
  const { run } = await agent.run("Go").result;

  expect(await agent.replay(run)).toMatchObject({ status: "same", steps: 2 });
});

test("fork() has the skills open that the calls of its last step have opened", async () => {
  const agent = createTestAgent(({ prompt }) => {
    const text = JSON.stringify(prompt);
    if (!text.includes("activate_skill")) return { calls: [{ tool: "activate_skill", input: { name: "extra" } }] };
    return text.includes("extra__tell") && text.includes('"told"') ? "Done" : { calls: [{ tool: "extra__tell" }] };
  });
  const { run } = await agent.run("Go").result;

  const fork = await agent.fork(run, 1, { say: "Go on" }).result;

  expect(fork).toMatchObject({ status: "ok", text: "Done", skills: ["extra"] });
  expect(await agent.replay(fork.run)).toMatchObject({ status: "same" });
});

const toTool = (name: string): Tool => defineTool({ name, description: "Does something", run: () => name });
const tell = defineTool({ name: "tell", description: "Tells", run: () => "told" });
const drop = defineTool({ name: "drop", description: "Drops", needsApproval: true, run: () => "dropped" });
const extraSkill = { name: "extra", description: "Tells more", workDirection: "Tell" };

function createTestAgent(script: MockScript, options: Partial<AgentOptions> = {}): ReturnType<typeof createAgent> {
  const extra = defineSkill({ ...extraSkill, tools: [tell] });
  const workspace = createWorkspace({ tools: [drop], skills: [extra] });
  const model = mockModel(typeof script === "function" ? script : [...script, ...script]);
  return createAgent({ model, workspace, store: memoryStore(), ...options });
}
