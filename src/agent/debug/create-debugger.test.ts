import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";
import { createDebugger, type Breakpoint, type DebugAction, type DebugStop } from "./create-debugger.ts";

test("createDebugger() stops at every place there is when it goes step by step", async () => {
  const { stops } = await debugRun(() => ({ action: "step" }));

  expect(stops.map(({ where, step, call }) => [where, step, call?.tool])).toEqual([
    ["model", 1, undefined],
    ["answer", 1, undefined],
    ["call", 1, "double"],
    ["outcome", 1, "double"],
    ["model", 2, undefined],
    ["answer", 2, undefined],
  ]);
  expect(stops[0]).toMatchObject({ tools: ["double"], messages: [{ role: "user" }] });
  expect(stops[3]).toMatchObject({ outcome: { status: "ok", output: 4 } });
});

test("createDebugger() stops a run before a call, which is made when the run is resumed", async () => {
  const made: string[] = [];
  const drop = defineTool({ name: "drop", description: "Drops", run: () => void made.push("drop") });
  const model = mockModel([{ calls: [{ tool: "drop" }] }, "Done"]);
  const agent = createAgent({ model, store: memoryStore(), workspace: createWorkspace({ tools: [drop] }) });
  const run: AgentRun = agent.run("Go", {
    hooks: createDebugger({
      breakpoints: [{ tool: "drop" }],
      stop: () => run.stop(),
      onStop: () => ({ action: "stop" }),
    }),
  });
  const stopped = await run.result;
  const before = [...made];

  const result = await agent.resume(run.id).result;

  expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(before).toEqual([]);
  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toEqual(["drop"]);
});

test.for<[what: string, breakpoint: Breakpoint, places: string[]]>([
  ["a step", { step: 2 }, ["model 2"]],
  ["a tool", { tool: "double" }, ["call 1", "outcome 1"]],
  ["a condition", { when: ({ outcome }) => outcome?.status === "ok" && outcome.output === 4 }, ["outcome 1"]],
  ["a tool and a condition", { tool: "double", when: ({ where }) => where === "call" }, ["call 1"]],
  ["nothing that happens", { tool: "halve" }, []],
])("createDebugger() stops at %s", async ([, breakpoint, places]) => {
  const { stops } = await debugRun(() => ({ action: "continue" }), [breakpoint]);

  expect(stops.map(({ where, step }) => `${where} ${step}`)).toEqual(places);
});

test.for<[what: string, where: DebugStop["where"], action: DebugAction, shown: unknown]>([
  ["another input", "call", { action: "continue", input: { value: 10 } }, { type: "json", value: 20 }],
  [
    "what came of a call, before it is made",
    "call",
    { action: "continue", outcome: { status: "ok", output: "no" } },
    { type: "text", value: "no" },
  ],
  [
    "what came of a call, after it",
    "outcome",
    { action: "continue", outcome: { status: "ok", output: 5 } },
    { type: "json", value: 5 },
  ],
])("createDebugger() takes %s", async ([, where, action, shown]) => {
  const { result } = await debugRun((stop) => (stop.where === where ? action : { action: "step" }));

  expect(JSON.stringify(result.messages)).toContain(JSON.stringify(shown));
});

test("createDebugger() makes a call again, with another input", async () => {
  let times = 0;
  const { stops, result } = await debugRun(({ where }) => {
    if (where !== "outcome") return { action: "step" };
    times += 1;
    return times === 1 ? { action: "retry", input: { value: 21 } } : { action: "continue" };
  });

  expect(stops.filter(({ where }) => where === "outcome").map(({ outcome }) => outcome)).toMatchObject([
    { output: 4 },
    { output: 42 },
  ]);
  expect(JSON.stringify(result.messages)).toContain('{"type":"json","value":42}');
});

test("createDebugger() has the model asked again", async () => {
  let times = 0;
  const { stops, result } = await debugRun(({ where }) => {
    if (where !== "answer") return { action: "step" };
    times += 1;
    return times === 1 ? { action: "retry" } : { action: "continue" };
  });

  expect(stops.filter(({ where }) => where === "answer")).toHaveLength(2);
  expect(result.usage.modelCalls).toBe(3);
});

test("createDebugger() ends a run before a call, which is not made", async () => {
  const { result, made } = await debugRun(({ where }) => (where === "call" ? { action: "stop" } : { action: "step" }));

  expect(result).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(made).toEqual([]);
});

test("createDebugger() asks about calls that run at the same time one after the other, and not about those that go on", async () => {
  let asking = 0;
  const asked: [where: DebugStop["where"], input: unknown, together: number][] = [];
  const look = defineTool({ name: "look", description: "Looks", run: () => "seen" });
  const calls = ["a", "b"].map((name) => ({ tool: "look", input: { name } }));
  const agent = createAgent({ model: mockModel([{ calls }, "Done"]), workspace: createWorkspace({ tools: [look] }) });
  const run: AgentRun = agent.run("Look", {
    hooks: createDebugger({
      stop: () => run.stop(),
      async onStop({ where, call }) {
        asking += 1;
        asked.push([where, call?.input, asking]);
        await new Promise(setImmediate);
        asking -= 1;
        return where === "call" ? { action: "continue" } : { action: "step" };
      },
    }),
  });

  await run.result;

  expect(asked).toEqual([
    ["model", undefined, 1],
    ["answer", undefined, 1],
    ["call", { name: "a" }, 1],
  ]);
});

async function debugRun(
  decide: (stop: DebugStop) => DebugAction,
  breakpoints: readonly Breakpoint[] = [],
): Promise<{ readonly stops: readonly DebugStop[]; readonly result: RunResult; readonly made: readonly unknown[] }> {
  const stops: DebugStop[] = [];
  const made: unknown[] = [];
  const double = defineTool({
    name: "double",
    description: "Doubles a number",
    input: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
    run({ value }) {
      made.push(value);
      return 2 * Number(value);
    },
  });
  const model = mockModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? "Done" : { calls: [{ tool: "double", input: { value: 2 } }] },
  );
  const agent = createAgent({ model, workspace: createWorkspace({ tools: [double] }) });
  const onStop = (stop: DebugStop): DebugAction => {
    stops.push(stop);
    return decide(stop);
  };
  const run: AgentRun = agent.run("Double 2", {
    hooks: createDebugger({ breakpoints, onStop, stop: () => run.stop() }),
  });
  return { stops, made, result: await run.result };
}
