import { afterAll, expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import { codeRuntime } from "./code-runtime.ts";
import { createCodeTool } from "./create-code-tool.ts";
import type { CodeOutput } from "./program-session.ts";

const double = defineTool({
  name: "double",
  description: "Doubles a number",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run: ({ n }) => Number(n) * 2,
});

const addOne = defineTool({
  name: "add-one",
  description: "Adds one",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run: ({ n }) => Number(n) + 1,
});

// One for all, so that not every test starts a thread; nothing of a program stays in it.
const runtime = codeRuntime({
  tools: () => [
    { address: "double", tool: double },
    { address: "math-box/add-one", tool: addOne },
  ],
  limits: { cpuMs: 1500 },
});
afterAll(() => runtime.close());

test.for<[string, unknown]>([
  ["return 1 + 1", 2],
  ["1 + 1", 2],
  ["const list = [1, 2];\nlist.map((n) => n * 2)", [2, 4]],
  ["const n = await 3; n", 3],
  ["if (true) { return { a: [null, true, 'x'] } }", { a: [null, true, "x"] }],
  ["async () => 42", 42],
  ["async function main() { return 'called' }\nmain", "called"],
  ["return undefined", null],
  ["const n = 2\nreturn n", 2],
  // What looks like a `return` at the end, and is none.
  ["5\n/* so:\nreturn n */", 5],
  ["`\nreturn 1`.length", 9],
  ["'a\\\nreturn b'", "areturn b"],
  ["(() => {\n  return 7 })()", 7],
  ["// nothing", null],
  ["return { a: undefined, b: () => 1 }", {}],
  ["eval('1 + 2')", 3],
  ["new Date(0).toISOString() + new Date(0).getHours()", "1970-01-01T00:00:00.000Z0"],
])("run() answers with the result of %j", async ([code, result]) => {
  expect(await run(code)).toEqual({ status: "ok", output: { result, console: "", calls: [] } });
});

test.for<[string, unknown]>([
  ["const n: number = 3;\nreturn n as unknown", 3],
  ["interface A { b: string }\nconst a: A = { b: 'x' };\na.b", "x"],
  ["const first = <T,>(list: T[]): T => list[0]!;\nfirst<number>([7])", 7],
  ["enum Size { Small = 4 }\nreturn Size.Small", 4],
])("run() takes TypeScript: %j", async ([code, result]) => {
  const typed = await run(code, { language: "typescript" });
  const plain = await run(code);

  expect(typed).toMatchObject({ status: "ok", output: { result } });
  if (!code.includes("<number>")) expect(plain).toMatchObject({ status: "ok", output: { result } });
});

test("run() calls tools by every name they have", async () => {
  const code = `return [
    await tools.double({ n: 1 }),
    await double({ n: 2 }),
    await tools["double"]({ n: 3 }),
    await tools["math-box"]["add-one"]({ n: 4 }),
    await tools.math_box.add_one({ n: 5 }),
    await tools["math-box/add-one"]({ n: 6 }),
    await tools.math_box["add-one"]({ n: 7 }),
  ]`;

  const outcome = await run(code);

  expect(outcome).toMatchObject({
    status: "ok",
    output: {
      result: [2, 4, 6, 5, 6, 7, 8],
      calls: [
        { tool: "double", status: "ok" },
        { tool: "double", status: "ok" },
        { tool: "double", status: "ok" },
        ...Array.from({ length: 4 }, () => ({ tool: "math-box/add-one", status: "ok" })),
      ],
    },
  });
});

test("run() leaves what tools gave back out of its output, but for the result", async () => {
  const outcome = await run("const text = await tools.long(); return text.length");

  expect(outcome).toMatchObject({ output: { result: 10_000 } });
  expect(JSON.stringify(outcome)).not.toContain("xxx");
});

test("run() lets calls run at the same time, and not more than it may", async () => {
  const counting = codeRuntime({ limits: { maxParallel: 4 } });
  let now = 0;
  let most = 0;
  const slow = defineTool({
    name: "slow",
    description: "Takes a while",
    async run() {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
    },
  });
  const workspace = createWorkspace({ tools: [slow, createCodeTool()], runtimes: [counting] });

  const outcome = await workspace.call("execute_code", {
    code: "return (await Promise.all(Array.from({ length: 20 }, () => tools.slow()))).length",
  });

  await counting.close();
  expect(outcome).toMatchObject({ output: { result: 20 } });
  expect(most).toBe(4);
});

test("a call that fails throws an error with code, message, tool and details", async () => {
  const code = `try { await tools.double({ n: "many" }) } catch (error) {
    return [error instanceof ToolError, error instanceof Error, error.name, error.code, error.tool, error.message, error.details.problems.length];
  }`;

  expect(await run(code)).toMatchObject({
    output: {
      result: [
        true,
        true,
        "ToolError",
        "input-invalid",
        "double",
        'Cannot call "double": the input is wrong: n: expected a number, found "many"',
        1,
      ],
      calls: [{ tool: "double", status: "failed", code: "input-invalid" }],
    },
  });
});

test("a call that fails and is not caught fails the program, with its line, what was printed and what was called", async () => {
  const outcome = await run('console.log("before");\n\nawait tools.fail();');

  expect(outcome).toMatchObject({
    status: "failed",
    error: {
      code: "code-failed",
      message:
        'Cannot finish the program of "execute_code": ToolError: Cannot finish "fail": the tool failed: no luck (line 3)',
      details: { console: "before", calls: [{ tool: "fail", status: "failed", code: "tool-failed" }] },
    },
  });
});

test.for(["return [{}].map(tools.fail)[0]", "return tools.fail()", "await Promise.all([tools.fail()])"])(
  "a call that fails says in which line the program made it: %s",
  async (call) => {
    const outcome = await run(`const first = 1;\n${call}`);

    expect(messageOf(outcome)).toContain("no luck (line 2)");
  },
);

test.for(["() => ({})", "() => { throw 1 }", "() => undefined"])(
  "a call that fails is heard of where a program makes its own traces: %s",
  async (trace) => {
    const code = `Error.prepareStackTrace = ${trace};
      try { await tools.fail() } catch (error) { return error.code }`;

    const outcome = await run(code);

    expect(outcome).toMatchObject({ output: { result: "tool-failed" } });
  },
);

test.for(["tools.dubble({ n: 1 })", "tools['dubble']({ n: 1 })"])("%s says which tool was meant", async (call) => {
  const outcome = await run(`await ${call}`);

  expect(messageOf(outcome)).toContain('Cannot find the tool "dubble": did you mean "double"? (line 1)');
});

test.for(["() => 1", "Symbol()", "10n", "(() => { const a = {}; a.a = a; return a })()"])(
  "an input that is no JSON is refused before it is sent: %s",
  async (input) => {
    const outcome = await run(`try { await tools.double(${input}) } catch (error) { return error.code }`);

    expect(outcome).toMatchObject({ output: { result: "input-invalid", calls: [] } });
  },
);

test("a program calls tools of a skill only while it is open", async () => {
  const skill = defineSkill({ name: "closed", description: "Doubles", tools: [double] });
  const workspace = createWorkspace({ tools: [createCodeTool()], skills: [skill], runtimes: [runtime] });
  const code = "try { return await tools.closed.double({ n: 2 }) } catch (error) { return error.code }";

  const before = await workspace.call("execute_code", { code });
  await workspace.activateSkill("closed");
  const after = await workspace.call("execute_code", { code });

  expect(before).toMatchObject({ output: { result: "tool-unavailable" } });
  expect(after).toMatchObject({ output: { result: 4 } });
});

test("each call of a program is approved like any other", async () => {
  const asked: string[] = [];
  const outcome = await run("try { await tools.double({ n: 2 }) } catch (error) { return error.code }", {
    options: {
      approve: ({ address }) => {
        asked.push(address);
        return address === "double" ? { decision: "deny", reason: "no" } : { decision: "approve" };
      },
    },
  });

  expect(outcome).toMatchObject({ output: { result: "approval-denied" } });
  expect(asked).toEqual(["execute_code", "double"]);
});

test("a program has the budget of the call around it", async () => {
  const code =
    "let made = 0; try { for (;;) { await tools.double({ n: 1 }); made++ } } catch (error) { return [made, error.code] }";

  const outcome = await run(code, { options: { limits: { maxCalls: 10 } } });

  expect(outcome).toMatchObject({ output: { result: [10, "budget-spent"] } });
});

test("a program that calls itself ends at the limit of cycles", async () => {
  const code =
    "try { return (await tools.execute_code({ code: program })).result } catch (error) { return error.code }";
  const program = `const program = ${JSON.stringify(`const program = 0; ${code.replace("program }", '"1" }')}`)}; ${code}`;

  const outcome = await run(program, { options: { limits: { maxCycle: 2 } } });

  expect(outcome).toMatchObject({ output: { result: "call-cycle" } });
});

test("100,000 calls are refused beyond the budget, and the program can go on", async () => {
  const patient = codeRuntime({ limits: { cpuMs: 20_000, maxCalls: 50 } });
  const workspace = createWorkspace({ tools: [double, createCodeTool()], runtimes: [patient] });

  const outcome = await workspace.call("execute_code", {
    code: `let refused = 0, message = "";
      for (let round = 0; round < 100; round++) {
        const all = await Promise.allSettled(Array.from({ length: 1000 }, () => tools.double({ n: 1 })));
        for (const { reason } of all) if (reason?.code === "budget-spent") { refused++; message = reason.message }
      }
      return [refused, message]`,
  });

  await patient.close();
  expect(outcome).toMatchObject({
    output: {
      result: [99_950, 'Cannot call "double": this program has used its 50 calls; use fewer, or return what is there'],
    },
  });
  expect(outputOf(outcome).calls).toHaveLength(50);
});

test("console prints values as text, and tells them while the program runs", async () => {
  const { workspace, events } = setUp();

  const outcome = await workspace.call("execute_code", {
    code: "console.log('a', 1, { b: [2] }, null, undefined, 3n, true); console.error(new TypeError('x'))",
  });

  expect(outcome).toMatchObject({ output: { console: 'a 1 {"b":[2]} null undefined 3n true\nTypeError: x (line 1)' } });
  expect(events.filter(({ type }) => type === "call-log")).toMatchObject([
    { message: 'a 1 {"b":[2]} null undefined 3n true' },
    { message: "TypeError: x (line 1)" },
  ]);
});

test("console keeps only so much of a flood", async () => {
  const outcome = await run("for (let i = 0; i < 3000; i++) console.log('x'.repeat(1000)); return 'done'");

  const { result, console } = outputOf(outcome);
  expect(result).toBe("done");
  expect(console.length).toBeLessThan(33_000);
  expect(console).toMatch(/… \(only the first 32768 characters are kept\)$/u);
});

test("setTimeout waits, and clearTimeout ends the waiting", async () => {
  const code = `const order = [];
    const never = setTimeout(() => order.push("never"), 5);
    setTimeout((word) => order.push(word), 1, "first");
    clearTimeout(never);
    await new Promise((resolve) => setTimeout(resolve, 30));
    return order`;

  expect(await run(code)).toMatchObject({ output: { result: ["first"] } });
});

test("a program is cancelled with the call around it, and so are its calls", async () => {
  let signal: AbortSignal | undefined;
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run(_, context) {
      signal = context.signal;
      return new Promise(() => {});
    },
  });
  const workspace = createWorkspace({ tools: [wait, createCodeTool()], runtimes: [runtime] });

  const outcome = await workspace.call("execute_code", { code: "await tools.wait()" }, { limitMs: 300 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout", details: { limitMs: 300 } } });
  expect(signal?.aborted).toBe(true);
});

test.for<[what: string, rest: string, limits: { limitMs?: number; cpuMs?: number }, error: object]>([
  ["computes too long", "for (;;) {}", { cpuMs: 500 }, { code: "call-timeout", details: { limitMs: 500 } }],
  [
    "takes too much memory",
    "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)",
    {},
    { code: "memory-exceeded" },
  ],
  [
    "waits until the time of its call is over",
    "await new Promise((resolve) => setTimeout(resolve, 60_000))",
    { limitMs: 3000 },
    { code: "call-timeout", details: { limitMs: 3000 } },
  ],
  [
    "computes until the time of its call is over",
    "for (;;) {}",
    { limitMs: 3000 },
    { code: "call-timeout", details: { limitMs: 3000 } },
  ],
])("a program that %s tells what it did until then", async ([, rest, { limitMs, cpuMs }, error]) => {
  const own = codeRuntime({ limits: { cpuMs: cpuMs ?? 60_000 } });
  onTestFinished(() => own.close());
  const workspace = createWorkspace({ tools: [double, createCodeTool()], runtimes: [own] });
  const code = `await tools.double({ n: 1 }); console.log("did one"); ${rest}`;

  const outcome = await workspace.call("execute_code", { code }, limitMs === undefined ? {} : { limitMs });

  expect(outcome).toMatchObject({ status: "failed", error });
  expect(outcome).toMatchObject({
    error: {
      message: expect.stringContaining("→ it had called: double (ok)\n→ it had printed: did one") as unknown,
      details: { untilThen: { console: "did one", calls: [{ tool: "double", status: "ok" }] } },
    },
  });
});

test("a program that computes too long is told that waiting does not count", async () => {
  const outcome = await run("for (;;) {}");

  expect(outcome).toMatchObject({
    error: {
      message: 'Cannot finish "execute_code": it has computed for longer than 1500 ms, not counting what it waited',
    },
  });
});

test("a call that nobody waited for is unfinished when the program ends, and is cancelled", async () => {
  let signal: AbortSignal | undefined;
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    run(_, context) {
      signal = context.signal;
      return new Promise(() => {});
    },
  });
  const workspace = createWorkspace({ tools: [wait, createCodeTool()], runtimes: [runtime] });

  const outcome = await workspace.call("execute_code", { code: "tools.wait(); await null; return 'over'" });

  expect(outcome).toMatchObject({ output: { result: "over", calls: [{ tool: "wait", status: "unfinished" }] } });
  expect(signal?.aborted).toBe(true);
});

test("a call that a program makes after its end never happens", async () => {
  let count = 0;
  const tick = defineTool({ name: "tick", description: "Counts", run: () => (count += 1) });
  const workspace = createWorkspace({ tools: [tick, createCodeTool()], runtimes: [runtime] });

  const code = "(async () => { for (;;) await tools.tick() })(); await tools.tick(); return 'over'";
  await workspace.call("execute_code", { code });
  const counted = count;
  await workspace.call("execute_code", { code: "await new Promise((resolve) => setTimeout(resolve, 50))" });

  expect(counted).toBeLessThan(10);
  expect(count).toBe(counted);
});

test("an answer that comes after the end of a program does not reach the next one", async () => {
  const slow = defineTool({
    name: "slow",
    description: "Ends later",
    run: () => new Promise((resolve) => setTimeout(() => resolve("of the first"), 30)),
  });
  const slower = defineTool({
    name: "slower",
    description: "Ends much later",
    run: () => new Promise((resolve) => setTimeout(() => resolve("of the second"), 100)),
  });
  const workspace = createWorkspace({ tools: [slow, slower, createCodeTool()], runtimes: [runtime] });

  await workspace.call("execute_code", { code: "tools.slow(); return 1" });
  const outcome = await workspace.call("execute_code", { code: "return await tools.slower()" });

  expect(outcome).toMatchObject({ output: { result: "of the second" } });
});

test("a program finds nothing of the one before it", async () => {
  await run(
    "globalThis.left = 1; Object.prototype.left = 2; Array.prototype.push = () => 'broken'; JSON.stringify = 0",
  );

  const outcome = await run("const list = []; list.push(1); return [typeof left, ({}).left ?? null, list]");

  expect(outcome).toMatchObject({ output: { result: ["undefined", null, [1]] } });
});

test("ten programs at once do not disturb each other", async () => {
  const { workspace } = setUp();

  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      workspace.call("execute_code", {
        code: `let sum = 0; for (let i = 0; i < 20; i++) sum += await tools.double({ n: ${n} }); return sum`,
      }),
    ),
  );

  expect(outcomes.map((outcome) => outputOf(outcome).result)).toEqual(Array.from({ length: 10 }, (_, n) => n * 40));
});

test("run() refuses an empty program and one that is too long", async () => {
  expect(messageOf(await run(""))).toContain("code:");
  expect(messageOf(await run("/".repeat(300_000)))).toContain("code:");
});

test("run() refuses Python where there is no sandbox, and says what to do", async () => {
  const tool = createCodeTool({ languages: ["javascript", "python"] });
  const workspace = createWorkspace({ tools: [tool], runtimes: [runtime] });

  const outcome = await workspace.call("execute_code", { code: "1", language: "python" });

  expect(messageOf(outcome)).toBe(
    'Cannot use "sandbox": found nothing, expected a sandbox for the code runtime, because Python programs run in one',
  );
});

test.for<[object, string]>([
  [{ cpuMs: 0 }, "limits.cpuMs"],
  [{ memoryBytes: Number.NaN }, "limits.memoryBytes"],
  [{ maxCalls: "many" }, "limits.maxCalls"],
  [{ speed: 1 }, "limits.speed"],
])("codeRuntime() refuses the limits %o", ([limits, option]) => {
  expect(() => codeRuntime({ limits })).toThrow(option);
});

function setUp(options: WorkspaceOptions = {}): { workspace: Workspace; events: CallEvent[] } {
  const fail = defineTool({ name: "fail", description: "Fails", run: () => Promise.reject(new Error("no luck")) });
  const long = defineTool({ name: "long", description: "Answers at length", run: () => "x".repeat(10_000) });
  const workspace = createWorkspace({
    ...options,
    tools: [double, fail, long, createCodeTool()],
    components: [{ name: "math-box", tools: [addOne] }],
    runtimes: [runtime],
  });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));
  return { workspace, events };
}

async function run(code: string, { language, options }: { language?: string; options?: WorkspaceOptions } = {}) {
  return setUp(options).workspace.call("execute_code", { code, ...(language !== undefined && { language }) });
}

function outputOf(outcome: ToolOutcome): CodeOutput {
  if (outcome.status === "failed") throw new Error(outcome.error.message);
  return outcome.output as unknown as CodeOutput;
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "ok";
}
