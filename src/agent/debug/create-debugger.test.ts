import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockCall } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";
import {
  createDebugger,
  type Breakpoint,
  type DebugAction,
  type DebuggerOptions,
  type DebugStop,
} from "./create-debugger.ts";

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

test("createDebugger() stops calls that are made at the same time one after the other", async () => {
  const calls = [1, 2, 3].map((value) => ({ tool: "double", input: { value } }));
  let open = 0;
  let most = 0;
  const { stops } = await debugRun(
    async ({ where, call }) => {
      most = Math.max(most, ++open);
      await new Promise(setImmediate);
      open -= 1;
      return where === "call" ? { action: "step", input: call?.input ?? null } : { action: "step" };
    },
    [],
    calls,
  );

  expect(stops.filter(({ where }) => where === "call" || where === "outcome")).toHaveLength(6);
  expect(most).toBe(1);
});

test("createDebugger() asks about none of the other calls once somebody has stopped the run", async () => {
  const calls = [1, 2, 3].map((value) => ({ tool: "double", input: { value } }));

  const { stops, result } = await debugRun(
    ({ where }) => (where === "call" ? { action: "stop" } : { action: "step" }),
    [],
    calls,
  );

  expect(stops.map(({ where }) => where)).toEqual(["model", "answer", "call"]);
  expect(result).toMatchObject({ status: "stopped", reason: "cancelled" });
});

test("createDebugger() shows what a call was made with, and makes it again with that", async () => {
  let outcomes = 0;
  const { stops } = await debugRun(({ where }) => {
    if (where === "call") return { action: "step", input: { value: 5 } };
    return where === "outcome" && ++outcomes === 1 ? { action: "retry" } : { action: "step" };
  });

  const after = stops.filter(({ where }) => where === "outcome");
  expect(after.map(({ call, outcome }) => [call?.input, outcome])).toEqual([
    [{ value: 5 }, { status: "ok", output: 10 }],
    [{ value: 5 }, { status: "ok", output: 10 }],
  ]);
});

const go = (): DebugAction => ({ action: "continue" });
const end = (): void => {};

test.for<[what: string, options: unknown, message: string]>([
  [
    "an option that is none",
    { breakpoint: [], onStop: go, stop: end },
    'found an unknown option, expected "breakpoints"',
  ],
  ["that nobody is asked", { stop: end }, 'Cannot use "onStop": found nothing'],
  ["that nothing ends the run", { onStop: go }, 'Cannot use "stop": found nothing'],
  [
    "a breakpoint that says what nobody knows",
    { breakpoints: [{ tol: "double" }], onStop: go, stop: end },
    'Cannot use "breakpoints[0].tol": found an unknown option, expected "tool"',
  ],
  [
    "a breakpoint that says nothing",
    { breakpoints: [{}], onStop: go, stop: end },
    'Cannot use "breakpoints[0]": found {}, expected a step, a tool or when',
  ],
  ["a step that is none", { breakpoints: [{ step: "2" }], onStop: go, stop: end }, "expected a whole number above 0"],
])("createDebugger() refuses %s", ([, options, message]) => {
  expect(() => createDebugger(options as DebuggerOptions)).toThrow(message);
});

test.for<[what: string, where: DebugStop["where"], action: unknown, message: string]>([
  ["nothing", "model", undefined, 'expected { action }, which is "step", "continue", "retry" or "stop"'],
  ["an action that is none", "model", { action: "contine" }, 'found "contine"'],
  ["another try of what has not happened", "call", { action: "retry" }, 'stopped at "call", expected it at answer or'],
  ["arguments behind the call", "outcome", { action: "step", input: {} }, "expected it at call"],
  ["arguments for the model", "answer", { action: "retry", input: {} }, "expected it at outcome"],
  ["a result without a call", "model", { action: "step", outcome: { status: "ok", output: 1 } }, "at call or outcome"],
])("createDebugger() ends a run that is told %s", async ([, where, action, message]) => {
  const { result } = await debugRun((stop) => (stop.where === where ? (action as DebugAction) : { action: "step" }));

  expect(result).toMatchObject({ status: "failed", error: { code: "option-invalid" } });
  expect(result.error?.message).toContain(message);
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
  decide: (stop: DebugStop) => DebugAction | Promise<DebugAction>,
  breakpoints: readonly Breakpoint[] = [],
  calls: readonly MockCall[] = [{ tool: "double", input: { value: 2 } }],
): Promise<{ readonly stops: readonly DebugStop[]; readonly result: RunResult; readonly made: readonly unknown[] }> {
  const stops: DebugStop[] = [];
  const made: unknown[] = [];
  const double = defineTool({
    name: "double",
    description: "Doubles a number",
    annotations: { readOnly: true },
    input: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
    run({ value }) {
      made.push(value);
      return 2 * Number(value);
    },
  });
  const model = mockModel(({ prompt }) => (prompt.at(-1)?.role === "tool" ? "Done" : { calls }));
  const agent = createAgent({ model, workspace: createWorkspace({ tools: [double] }) });
  const onStop = (stop: DebugStop): DebugAction | Promise<DebugAction> => {
    stops.push(stop);
    return decide(stop);
  };
  const run: AgentRun = agent.run("Double 2", {
    hooks: createDebugger({ breakpoints, onStop, stop: () => run.stop() }),
  });
  return { stops, made, result: await run.result };
}
