import { expect, onTestFinished, test, vi } from "vitest";

import { memoryStore } from "../store/memory-store.ts";
import { mockModel } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { AgentOptions } from "./agent-options.ts";
import { createAgent } from "./create-agent.ts";
import { createDebugger } from "./debug/create-debugger.ts";

test.for<[options: object, option: string, nearest: string]>([
  [{ hooks: { beforCall: () => ({ deny: "no" }) } }, "hooks.beforCall", '"beforeCall"'],
  [{ limits: { maxsteps: 1 } }, "limits.maxsteps", '"maxSteps"'],
  [{ settings: { temprature: 1 } }, "settings.temprature", '"temperature"'],
  [{ telemetry: { contents: true } }, "telemetry.contents", '"content"'],
  [{ memory: { maxMessage: 8 } }, "memory.maxMessage", '"maxMessages"'],
  [{ limit: { maxSteps: 1 } }, "limit", '"limits"'],
  [{ instructions: 7 }, "instructions", "a text"],
  [{ hooks: { beforeCall: true } }, "hooks.beforeCall", "a function"],
  [{ limits: { maxSteps: "1" } }, "limits.maxSteps", "a number above 0"],
])("createAgent() refuses %j: what is not known would not count", ([options, option, expected]) => {
  const create = (): unknown => createAgent({ model: mockModel([]), workspace: createWorkspace(), ...options });

  expect(create).toThrow(expect.objectContaining({ code: "option-invalid" }));
  expect(create).toThrow(expect.objectContaining({ details: expect.objectContaining({ option, expected }) }));
});

test.for<[options: Partial<AgentOptions>, code: string]>([
  [{ model: "opnai/gpt-4o" }, "provider-unknown"],
  [{ model: "gpt-4o" }, "model-name-invalid"],
  [{ model: "openai/gpt-4o" }, "model-key-missing"],
  [{ model: "openai-compatible/llama" }, "option-invalid"],
  [{ memory: { summaryModel: "anthropic/claude-sonnet-4-5" } }, "model-key-missing"],
])("createAgent() refuses %j: the model cannot be asked", ([options, code]) => {
  for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "KITBAG_OPENAI_COMPATIBLE_URL"]) vi.stubEnv(name, "");
  onTestFinished(() => void vi.unstubAllEnvs());

  const create = (): unknown => createAgent({ model: "local", workspace: createWorkspace(), ...options });

  expect(create).toThrow(expect.objectContaining({ code }));
});

test("createAgent() accepts the name of a model whose key is set", () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-test");
  onTestFinished(() => void vi.unstubAllEnvs());

  expect(createAgent({ model: "openai/gpt-4o", workspace: createWorkspace() }).totalCost).toBe(0);
});

test.for<[changes: object, option: string]>([
  [{ sey: "Go on" }, "changes.sey"],
  [{ say: 5 }, "changes.say"],
  [{ outcomes: { "1.0": "done" } }, 'changes.outcomes["1.0"]'],
])("fork(%j) is refused at %s, and makes no run", async ([changes, option]) => {
  const store = memoryStore();
  const agent = createAgent({ model: mockModel(["Done"]), workspace: createWorkspace(), store });
  await agent.run("Go", { id: "a" }).result;

  await expect(agent.fork("a", 1, changes)).rejects.toMatchObject({ code: "option-invalid", details: { option } });
  expect(await store.log.streams({ prefix: "run:" })).toEqual(["run:a"]);
});

test.for<[options: object, option: string]>([
  [{ breakpoints: [{ tol: "add" }] }, "breakpoints[0].tol"],
  [{ breakpoints: [null] }, "breakpoints[0]"],
  [{ stopAtBegin: true }, "stopAtBegin"],
  [{ onStop: undefined }, "onStop"],
])("createDebugger(%j) is refused at %s", ([options, option]) => {
  const right = { onStop: () => ({ action: "step" }) as const, stop: () => {} };

  expect(() => createDebugger({ ...right, ...options })).toThrow(
    expect.objectContaining({ code: "option-invalid", details: expect.objectContaining({ option }) }),
  );
});

test.for<[task: unknown, options: object, option: string]>([
  ["Go", { limit: 1 }, "limit"],
  ["Go", { limits: { maxSteps: 0 } }, "limits.maxSteps"],
  ["Go", { limits: { maxStep: 1 } }, "limits.maxStep"],
  ["Go", { hooks: { beforeCal: () => undefined } }, "hooks.beforeCal"],
  ["Go", { skills: "pdf" }, "skills"],
  [[{ role: "usr", content: [] }], {}, "task[0].role"],
  [[{ role: "user", content: "Go" }], {}, "task[0].content"],
  [[null], {}, "task[0].role"],
])("run(%j, %j) and resume() fail at %s, and ask nobody", async ([task, options, option]) => {
  const model = mockModel(["Done"]);
  const agent = createAgent({ model, workspace: createWorkspace(), store: memoryStore() });

  const result = await agent.run(task as string, options).result;

  expect(result).toMatchObject({ status: "failed", error: { code: "option-invalid", details: { option } } });
  if (task === "Go") expect((await agent.resume("a", options).result).error).toMatchObject({ details: { option } });
  expect(model.asked).toEqual([]);
});
