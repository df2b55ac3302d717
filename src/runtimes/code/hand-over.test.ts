import { setTimeout as wait } from "node:timers/promises";

import { afterAll, expect, onTestFinished, test, vi } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { codeRuntime, type CodeRuntime } from "./code-runtime.ts";
import { createCodeTool } from "./create-code-tool.ts";

const echo = defineTool({
  name: "echo",
  description: "Gives back what it gets",
  input: { type: "object", additionalProperties: true },
  run: (input) => input,
});
const runtime = codeRuntime({ limits: { memoryBytes: 32 * 1024 * 1024 } });
afterAll(() => runtime.close());

test.for([1, 5000, 8191, 8192, 16_384, 50_000, 300_000])("inputs and answers may have %d characters", async (size) => {
  const code = `let same = 0;
    for (const letter of ["x", "é", "€"]) {
      const text = letter.repeat(${size});
      for (let round = 0; round < 3; round++) if ((await tools.echo({ text })).text === text) same++;
    }
    return same`;

  expect(await run(code)).toMatchObject({ output: { result: 9 } });
});

test("inputs and answers may have any characters", async () => {
  const code = String.raw`const texts = ["😀", "\ud83d", "\ude00\ud83d", "\0", "\n\r\u2028\u2029", "\"],[\\", "\u202e", "constructor"];
    const answers = [];
    for (const text of texts) answers.push((await tools.echo({ [text]: text }))[text]);
    const together = await Promise.all(texts.map((text) => tools.echo({ text })));
    return texts.every((text, index) => answers[index] === text && together[index].text === text)`;

  expect(await run(code)).toMatchObject({ output: { result: true } });
});

test("limits may be infinite", async () => {
  const free = codeRuntime({ limits: { maxCalls: Infinity, cpuMs: Infinity, consoleBytes: Infinity } });

  const outcome = await run("console.log('x'); return (await tools.echo({ a: 1 })).a", { runtime: free });

  await free.close();
  expect(outcome).toMatchObject({ output: { result: 1, console: "x" } });
});

test("1,000 calls in flight, slow and quick, each get their own answer", async () => {
  const later = defineTool({
    name: "later",
    description: "Answers at once, soon or later",
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    run: ({ n }) => (Number(n) % 3 === 0 ? n : wait(Number(n) % 5, n)),
  });
  const code = `const all = await Promise.all(Array.from({ length: 1000 }, (_, n) => tools.later({ n })));
    return all.every((answer, n) => answer === n)`;

  expect(await run(code, { tools: [later] })).toMatchObject({ output: { result: true } });
});

test("a call that the program does not wait for runs while the program computes", async () => {
  const mark = defineTool({ name: "mark", description: "Tells when it ran", run: () => Date.now() });
  const code = `const marked = tools.mark();
    const until = Date.now() + 400;
    while (Date.now() < until);
    return until - await marked`;

  const outcome = await run(code, { tools: [mark] });

  const earlierMs = outcome.status === "ok" ? (outcome.output as { result: number }).result : Number.NaN;
  expect(earlierMs).toBeGreaterThan(0);
});

test("what a program calls and prints is told in its order", async () => {
  const events: CallEvent[] = [];
  const code = "const first = tools.echo({}); console.log('a'); await first; console.log('b'); await tools.echo({})";

  await run(code, { onEvent: (event) => events.push(event) });

  const order = events.flatMap((event) => {
    if (event.type === "call-log") return [event.message];
    return event.type === "call-start" && event.tool === "echo" ? ["call"] : [];
  });
  expect(order).toEqual(["call", "a", "b", "call"]);
});

test("a program that calls quick tools without end leaves time to everyone else", async () => {
  const patient = codeRuntime({ limits: { maxCalls: 1_000_000, cpuMs: 60_000 } });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);

  const outcome = await run("for (;;) await tools.echo({})", { runtime: patient, limitMs: 1000, maxCalls: 1_000_000 });

  clearInterval(timer);
  await patient.close();
  expect(outcome).toMatchObject({ error: { code: "call-timeout", details: { limitMs: 1000 } } });
  expect(turns).toBeGreaterThan(20);
});

test("a program that calls quick tools without end hears of its own timers", async () => {
  const patient = codeRuntime({ limits: { maxCalls: 1_000_000, cpuMs: 60_000 } });
  const code = `let isOver = false;
    setTimeout(() => (isOver = true), 50);
    for (let n = 0; n < 30_000; n++) {
      if (isOver) return n;
      await tools.echo({});
    }`;

  const outcome = await run(code, { runtime: patient, limitMs: 60_000, maxCalls: 1_000_000 });

  await patient.close();
  expect(outcome).toMatchObject({ output: { result: expect.any(Number) as number } });
});

test("a program goes on where a test has stopped the clocks", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());

  const outcome = await run("let sum = 0; for (let n = 0; n < 50; n++) sum += (await tools.echo({ n })).n; return sum");

  expect(outcome).toMatchObject({ output: { result: 1225 } });
});

test("a program is aborted in the middle of its calls, and the next one gets none of their answers", async () => {
  const controller = new AbortController();
  let count = 0;
  const tick = defineTool({
    name: "tick",
    description: "Counts, and aborts at 50",
    run() {
      count += 1;
      if (count === 50) controller.abort(new Error("enough"));
      return count;
    },
  });

  const outcome = await run("for (;;) await tools.tick()", { tools: [tick], signal: controller.signal }).catch(
    (cause: unknown) => cause,
  );
  const after = await run(
    "const all = []; for (let n = 0; n < 60; n++) all.push((await tools.echo({ n })).n); return all",
  );

  expect(JSON.stringify(outcome) + String(outcome)).toMatch(/enough|cancelled/u);
  expect(count).toBeLessThan(53);
  expect(after).toMatchObject({ output: { result: Array.from({ length: 60 }, (_, n) => n) } });
});

test("a thread that is ended while its program waits fails the program, and only it", async () => {
  const ended = codeRuntime();
  const begun = Promise.withResolvers<void>();
  const never = defineTool({
    name: "never",
    description: "Never answers",
    run() {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const running = run("await tools.never()", { tools: [never], runtime: ended });
  await begun.promise;

  await ended.close();

  expect(await running).toMatchObject({ status: "failed" });
  expect(await run("return (await tools.echo({ a: 1 })).a", { runtime: ended })).toMatchObject({
    output: { result: 1 },
  });
  await ended.close();
});

test("the process goes on while a program waits for its own timer, or computes", async () => {
  const order: string[] = [];
  const start = defineTool({
    name: "start",
    description: "Starts a clock",
    run() {
      setTimeout(() => order.push("clock"), 50);
      return null;
    },
  });

  for (const meanwhile of ["await new Promise((resolve) => setTimeout(resolve, 500))", "while (Date.now() < until);"]) {
    const code = `for (let n = 0; n < 100; n++) await tools.echo({});
      await tools.start();
      const until = Date.now() + 500;
      ${meanwhile}`;
    await run(code, { tools: [start] });
    order.push("end");
  }

  expect(order).toEqual(["clock", "end", "clock", "end"]);
});

test("answers count as memory of the program", async () => {
  const long = defineTool({ name: "long", description: "Answers at length", run: () => "x".repeat(500_000) });
  const code = "const all = []; for (;;) all.push(await tools.long())";

  const outcome = await run(code, { tools: [long] });

  expect(outcome).toMatchObject({ error: { code: "memory-exceeded" } });
  expect(await run("return (await tools.echo({ a: 1 })).a")).toMatchObject({ output: { result: 1 } });
});

interface RunOptions {
  readonly tools?: readonly Tool[];
  readonly runtime?: CodeRuntime;
  readonly onEvent?: (event: CallEvent) => void;
  readonly limitMs?: number;
  readonly maxCalls?: number;
  readonly signal?: AbortSignal;
}

async function run(code: string, options: RunOptions = {}): Promise<ToolOutcome> {
  const { tools = [], runtime: own = runtime, onEvent, ...callOptions } = options;
  const workspace = createWorkspace({ tools: [echo, ...tools, createCodeTool()], runtimes: [own] });
  if (onEvent !== undefined) workspace.onEvent(onEvent);
  return workspace.call("execute_code", { code }, callOptions);
}
