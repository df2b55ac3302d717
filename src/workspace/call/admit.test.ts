import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolContext, Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("call() runs so many calls at once and lets the others wait, first come, first served", async () => {
  const { gate, tools, running } = setUp();
  const workspace = createWorkspace({ tools, limits: { maxConcurrent: 2 } });

  const calls = ["1", "2", "3", "4"].map((id) => workspace.call("wait", { id }));
  await gate.entered("2");
  const first = [...running];
  gate.open("1");
  await gate.entered("3");
  gate.open("2");
  await gate.entered("4");
  gate.open("3");
  gate.open("4");

  expect(first).toEqual(["1", "2"]);
  expect(running).toEqual(["1", "2", "3", "4"]);
  expect((await Promise.all(calls)).every(({ status }) => status === "ok")).toBe(true);
});

test("call() runs so many calls of one tool at once, and does not hold up other tools", async () => {
  const { gate, tools, running } = setUp({ maxConcurrent: 1 });
  const workspace = createWorkspace({ tools });

  const calls = ["1", "2"].map((id) => workspace.call("wait", { id }));
  await gate.entered("1");
  const other = await workspace.call("free");
  const before = [...running];
  gate.open("1");
  await gate.entered("2");
  gate.open("2");
  await Promise.all(calls);

  expect(other).toEqual({ status: "ok", output: "free" });
  expect(before).toEqual(["1"]);
  expect(running).toEqual(["1", "2"]);
});

test("call() counts a tool that has a limit of its own in the total, too", async () => {
  const { gate, tools, running } = setUp({ maxConcurrent: 5 });
  const workspace = createWorkspace({ tools, limits: { maxConcurrent: 1 } });

  const calls = ["1", "2"].map((id) => workspace.call("wait", { id }));
  await gate.entered("1");
  const next = workspace.call("free");
  await new Promise(setImmediate);
  const before = [...running];
  gate.open("1");
  gate.open("2");
  await Promise.all([...calls, next]);

  expect(before).toEqual(["1"]);
});

test("call() stops waiting at its deadline, gives its place in line back, and runs nothing", async () => {
  const { gate, tools, running } = setUp({ maxConcurrent: 1 });
  const workspace = createWorkspace({ tools });

  const first = workspace.call("wait", { id: "1" });
  await gate.entered("1");
  const second = await workspace.call("wait", { id: "2" }, { limitMs: 10 });
  const third = workspace.call("wait", { id: "3" });
  gate.open("1");
  await gate.entered("3");
  gate.open("3");

  const rate = "1 call at once per tool";
  expect(second).toMatchObject({
    error: { code: "limit-reached", details: { tool: "wait", rate, retryAfterMs: 1000 } },
  });
  expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual(["ok", "ok"]);
  expect(running).toEqual(["1", "3"]);
});

test("call() that must not wait fails at once when there is no place, of its tool or at all", async () => {
  const { gate, tools, running } = setUp({ maxConcurrent: 1 });
  const workspace = createWorkspace({ tools, limits: { maxConcurrent: 2 } });
  const atOnce = { onLimit: "fail" } as const;

  const first = workspace.call("wait", { id: "1" }, atOnce);
  await gate.entered("1");
  const second = await workspace.call("wait", { id: "2" }, atOnce);
  workspace.add(tool("hold", () => gate.entered("3")));
  const hold = workspace.call("hold", {}, atOnce);
  const third = await workspace.call("free", {}, atOnce);
  gate.open("1");
  await first;
  const fourth = await workspace.call("free", {}, atOnce);
  gate.open("3");
  await Promise.all([workspace.call("wait", { id: "3" }), hold]);

  expect(second).toMatchObject({ error: { code: "limit-reached", details: { rate: "1 call at once per tool" } } });
  expect(third).toMatchObject({ error: { code: "limit-reached", details: { rate: "2 calls at once" } } });
  expect(fourth).toMatchObject({ status: "ok" });
  expect(running).toEqual(["1", "3"]);
});

test("call() gives its place back at the deadline, also if the tool does not stop", async () => {
  const { tools, gate, running } = setUp({ maxConcurrent: 1 });
  const workspace = createWorkspace({ tools, limits: { maxConcurrent: 1 } });

  const hung = await workspace.call("wait", { id: "never" }, { limitMs: 10 });
  gate.open("1");
  const next = await workspace.call("wait", { id: "1" });

  expect([hung.status, next.status]).toEqual(["failed", "ok"]);
  expect(running).toEqual(["never", "1"]);
});

test("call() that is cancelled in line leaves it", async () => {
  const { gate, tools, running } = setUp();
  const workspace = createWorkspace({ tools, limits: { maxConcurrent: 1 } });
  const controller = new AbortController();

  const first = workspace.call("wait", { id: "1" });
  await gate.entered("1");
  const second = workspace.call("wait", { id: "2" }, { signal: controller.signal });
  const third = workspace.call("free");
  setImmediate(() => controller.abort());
  const outcome = await second;
  gate.open("1");

  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual(["ok", "ok"]);
  expect(running).toEqual(["1"]);
});

test("a call inside a call never waits for the place of the outer one", async () => {
  const workspace = createWorkspace({
    limits: { maxConcurrent: 1, limitMs: 5000 },
    tools: [
      tool("countdown", async ({ n }, { call }) => (n === 0 ? "done" : call("countdown", { n: n - 1 })), 1),
      tool("twice", async (_, { call }) => Promise.all([call("countdown", { n: 1 }), call("countdown", { n: 1 })]), 1),
    ],
  });

  const outcomes = await Promise.all([workspace.call("countdown", { n: 2 }), workspace.call("twice", { n: 0 })]);

  expect(outcomes.map(({ status }) => status)).toEqual(["ok", "ok"]);
  expect(JSON.stringify(outcomes)).not.toContain("failed");
});

test("a call inside a call does not wait behind a call from outside that waits for the outer one's place", async () => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const workspace = createWorkspace({
    limits: { maxConcurrent: 1, limitMs: 5000 },
    tools: [
      tool("outer", async (_, { call }) => {
        started.resolve();
        await goOn.promise;
        return call("single", { n: 0 });
      }),
      tool("single", () => "done", 1),
    ],
  });

  const outer = workspace.call("outer", { n: 0 });
  await started.promise;
  const fromOutside = workspace.call("single", { n: 0 });
  await new Promise(setImmediate);
  goOn.resolve();

  expect(await outer).toEqual({ status: "ok", output: { status: "ok", output: "done" } });
  expect(await fromOutside).toEqual({ status: "ok", output: "done" });
});

test("calls inside a call of another tool share that tool's places", async () => {
  let running = 0;
  let most = 0;
  const workspace = createWorkspace({
    tools: [
      tool("all", async (_, { call }) => Promise.all(Array.from({ length: 20 }, () => call("few", { n: 0 })))),
      tool(
        "few",
        async () => {
          running += 1;
          most = Math.max(most, running);
          await new Promise(setImmediate);
          running -= 1;
        },
        3,
      ),
    ],
  });

  const outcome = await workspace.call("all", { n: 0 });

  expect(outcome.status).toBe("ok");
  expect(most).toBe(3);
});

test("R25: calls go so deep and no deeper", async () => {
  const workspace = createWorkspace({
    limits: { maxDepth: 2 },
    tools: ["a", "b", "c", "d"].map((name, index, names) =>
      tool(name, (_, { call }) => call(names[index + 1] ?? "", { n: 0 })),
    ),
  });

  const outcome = await workspace.call("a", { n: 0 });

  expect(innermost(outcome)).toMatchObject({
    code: "call-depth",
    details: { tool: "d", chain: ["a", "b", "c", "d"], limit: 2 },
  });
});

test("R25: a tool may be in a chain of calls so often and no more", async () => {
  const workspace = createWorkspace({
    limits: { maxCycle: 2 },
    tools: [
      tool("ping", (_, { call }) => call("pong", { n: 0 })),
      tool("pong", (_, { call }) => call("ping", { n: 0 })),
    ],
  });

  const outcome = await workspace.call("ping", { n: 0 });

  expect(innermost(outcome)).toMatchObject({
    code: "call-cycle",
    details: { tool: "ping", chain: ["ping", "pong", "ping", "pong", "ping"], limit: 2 },
  });
});

test("1,000 calls at once all end, in a workspace that runs 7 at a time", async () => {
  let running = 0;
  let most = 0;
  const workspace = createWorkspace({
    limits: { maxConcurrent: 7 },
    tools: [
      tool("work", async ({ n }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        return n;
      }),
    ],
  });

  const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, n) => workspace.call("work", { n })));

  expect(outcomes).toEqual(outcomes.map((_, n) => ({ status: "ok", output: n })));
  expect(most).toBe(7);
});

function tool(
  name: string,
  run: (input: { readonly n: number }, context: ToolContext) => unknown,
  maxConcurrent?: number,
): Tool {
  return defineTool({
    name,
    description: "Does something",
    input: { type: "object", properties: { n: { type: "number" } } },
    ...(maxConcurrent !== undefined && { limits: { maxConcurrent } }),
    run: (input, context) => run(input as { n: number }, context),
  });
}

interface Gate {
  /** Resolves when the call with this id is running. */
  entered(id: string): Promise<void>;
  open(id: string): void;
}

/** A tool that runs until its id is let through, and one that does not wait. */
function setUp(limits: Tool["limits"] = {}): { gate: Gate; tools: Tool[]; running: string[] } {
  const entered = new Map<string, PromiseWithResolvers<void>>();
  const opened = new Map<string, PromiseWithResolvers<void>>();
  const get = (all: Map<string, PromiseWithResolvers<void>>, id: string): PromiseWithResolvers<void> => {
    const known = all.get(id) ?? Promise.withResolvers<void>();
    all.set(id, known);
    return known;
  };
  const running: string[] = [];
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    limits,
    async run({ id }) {
      running.push(id as string);
      get(entered, id as string).resolve();
      await get(opened, id as string).promise;
    },
  });
  const free = defineTool({ name: "free", description: "Does not wait", run: () => "free" });
  return {
    gate: { entered: (id) => get(entered, id).promise, open: (id) => get(opened, id).resolve() },
    tools: [wait, free],
    running,
  };
}

/** The failure at the bottom of outcomes inside outcomes. */
function innermost(outcome: unknown): unknown {
  const { output, error } = outcome as { output?: unknown; error?: unknown };
  return error ?? innermost(output);
}
