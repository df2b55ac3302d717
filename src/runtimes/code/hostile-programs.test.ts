import { afterAll, expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { codeRuntime } from "./code-runtime.ts";
import { createCodeTool } from "./create-code-tool.ts";

const echo = defineTool({
  name: "echo",
  description: "Gives back what it gets",
  input: { type: "object", additionalProperties: true },
  run: (input) => input,
});
// One for all, because a thread that a hostile program had must be as good as new for the next.
const runtime = codeRuntime({ limits: { cpuMs: 700, memoryBytes: 16 * 1024 * 1024 } });
const workspace = createWorkspace({ tools: [echo, createCodeTool()], runtimes: [runtime] });
afterAll(() => runtime.close());

test.for([
  "while (true) {}",
  "for (;;) await null",
  "while (true) await Promise.resolve().then(() => {})",
  "try { while (true) {} } catch { return 'caught' } finally { while (true) {} }",
  "queueMicrotask(function again() { queueMicrotask(again) }); await new Promise(() => {})",
  "/(a+)+$/.test('a'.repeat(40) + 'b')",
  "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
  "console.log({ toJSON() { while (true) {} } })",
  "return { toJSON() { while (true) {} } }",
  "return new Proxy({}, { ownKeys() { while (true) {} } })",
  "throw { get message() { while (true) {} }, toJSON() { while (true) {} } }",
  "await tools.echo({ toJSON() { while (true) {} } })",
  "setTimeout(() => { while (true) {} }, 1); await new Promise(() => {})",
  "Object.defineProperty(Object.prototype, 'then', { get() { while (true) {} } }); return {}",
  "new Function('while (true) {}')()",
])("a program that never ends is stopped at its time: %s", async (code) => {
  const startedAt = performance.now();

  const outcome = await run(code);

  expect(codeOf(outcome)).toBe("call-timeout");
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await expectAlive();
});

test.for([
  "const list = []; for (;;) list.push('x'.repeat(1000) + list.length)",
  "new ArrayBuffer(1024 * 1024 * 1024)",
  "const list = []; for (;;) list.push(new Uint8Array(1024 * 1024))",
  "return Array.from({ length: 200 }, () => 'x'.repeat(200_000))",
  "const loop = () => Promise.resolve().then(loop); await loop()",
  "const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })",
  "'x'.repeat(2 ** 28).split('')",
])("a program that takes too much memory is stopped: %s", async (code) => {
  const before = process.memoryUsage().rss;

  const outcome = await run(code);

  expect(["memory-exceeded", "call-timeout"]).toContain(codeOf(outcome));
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
  await expectAlive();
});

test("a program that catches its lack of memory can go on", async () => {
  const code =
    "try { const list = []; for (;;) list.push(new Uint8Array(1024 * 1024)) } catch (error) { return error.message }";

  expect(await run(code)).toMatchObject({ output: { result: "out of memory" } });
});

test.for([
  "function down() { return down() + 1 } down()",
  "const down = () => [down()]; down()",
  "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; JSON.stringify(deep)",
  "const proxy = new Proxy({}, { get: (_, key, self) => self[key] }); proxy.x",
  "class A extends (class {}) { constructor() { super(); new A() } } new A()",
  "let text = 'x'; for (;;) text += text + Math.random()",
  "eval('['.repeat(100000))",
  "JSON.parse('['.repeat(100000))",
])("a program that goes too deep fails, and only it: %s", async (code) => {
  const outcome = await run(code);

  expect(codeOf(outcome)).toMatch(/^(?:code-failed|memory-exceeded|call-timeout)$/u);
  await expectAlive();
});

test.for(["await new Promise(() => {})", "await { then() {} }", "return new Promise(() => {})"])(
  "a program that waits for nothing is told so at once: %s",
  async (code) => {
    const outcome = await run(code);

    expect(messageOf(outcome)).toContain("it waits for a promise that nothing will ever settle");
  },
);

test.for<[string, string]>([
  ["throw undefined", "it threw undefined"],
  ["throw null", "it threw null"],
  ["throw 'text'", "it threw text"],
  ["throw 10n", "it threw 10"],
  ["throw Symbol('s')", "it threw Symbol(s)"],
  ["throw { a: 1 }", 'it threw {"a":1}'],
  ["throw () => 1", "it threw () => 1"],
  ["const cycle = {}; cycle.self = cycle; throw cycle", "it threw something that cannot be shown"],
  [
    "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
    "it threw something that cannot be shown",
  ],
  ["const e = new Error(); Object.defineProperty(e, 'message', { get() { throw e } }); throw e", "cannot be shown"],
  ["throw Object.assign(new Error('x'), { name: undefined })", "x (line 1)"],
  ["throw new AggregateError([new Error('a')], 'several')", "AggregateError: several"],
  ["throw new Error('x'.repeat(100_000))", "Error: xxx"],
  ["await Promise.any([Promise.reject(new Error('a'))])", "AggregateError"],
])("whatever a program throws, somebody can read it: %s", async ([code, text]) => {
  const outcome = await run(code);

  expect(codeOf(outcome)).toBe("code-failed");
  expect(messageOf(outcome)).toContain(text);
  expect(messageOf(outcome).length).toBeLessThan(5000);
});

test.for<[string, string]>([
  ["const a = {}; a.a = a; return a", "circular reference"],
  ["return 10n", "BigInt"],
  ["return { n: [1n] }", "BigInt"],
  ["return () => 1", "a function"],
  ["return Symbol('x')", "a symbol"],
  ["return { toJSON() { return undefined } }", "an object whose toJSON answers with nothing"],
  ["return { get a() { throw new Error('hidden') } }", "Error: hidden"],
])("a result that is no JSON is refused: %s", async ([code, found]) => {
  const outcome = await run(code);

  expect(codeOf(outcome)).toBe("output-invalid");
  expect(messageOf(outcome)).toContain(found);
});

test.for<[string, number]>([
  ["let x = ;", 1],
  ["const a = 1;\n\nconst b = ;\n", 3],
  ["if (true) {\n  return 1\n", 3],
  ["const a: number = ;", 1],
  ["const text = 'x\n';", 1],
])("a syntax error says in which line it is: %j", async ([code, line]) => {
  const outcome = await run(code);

  expect(codeOf(outcome)).toBe("code-failed");
  expect(messageOf(outcome)).toMatch(new RegExp(String.raw`SyntaxError: .* \(line ${line}\)`, "u"));
});

test.for([
  "import fs from 'node:fs'; return fs",
  "return await import('node:fs')",
  "return await import('file:///etc/passwd')",
  "export default 1",
])("a program has no modules: %s", async (code) => {
  expect(messageOf(await run(code))).toContain("a program has no modules, only its tools");
});

test.for([
  "this.constructor.constructor('return process')()",
  "tools.constructor.constructor('return process')()",
  "tools.echo.constructor('return process')()",
  "console.log.constructor('return process')()",
  "ToolError.constructor('return process')()",
  "setTimeout.constructor('return process.env')()",
  "(async () => {}).constructor('return process')()",
  "Reflect.getPrototypeOf(async function* () {}).constructor('return globalThis.process.pid')().next()",
  "process.exit(1)",
  "require('child_process')",
  "globalThis.constructor.constructor('return require')()('fs')",
  "new (class extends ToolError { constructor() { super('x'); this.host = process } })()",
])("no way leads from a program to the host: %s", async (code) => {
  const outcome = await run(`return [typeof process, typeof require, String(await (${code}))]`);

  expect(outcome.status).toBe("failed");
  expect(messageOf(outcome)).toMatch(
    /not defined|not a function|cannot read property|Cannot find the tool|not a constructor/u,
  );
});

test("everything that a program can reach belongs to its own machine", async () => {
  const code = `const seen = new Set(), names = new Set(), queue = [globalThis, tools, tools.echo, ToolError];
    while (queue.length > 0) {
      const value = queue.pop();
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
      seen.add(value);
      try { queue.push(Object.getPrototypeOf(value)) } catch {}
      for (const key of Reflect.ownKeys(value)) {
        names.add(String(key));
        const found = Object.getOwnPropertyDescriptor(value, key);
        if (found) queue.push(found.value, found.get, found.set);
      }
    }
    return { count: seen.size, names: [...names] }`;

  const { result } = okOutput(await run(code)) as { result: { count: number; names: string[] } };

  expect(result.count).toBeGreaterThan(100);
  for (const name of ["process", "require", "Buffer", "fetch", "WebAssembly", "Worker", "bridge", "sendCall"]) {
    expect(result.names).not.toContain(name);
  }
});

test("a program that replaces what everything is made of breaks only itself", async () => {
  const code = `Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw new Error("mine") };
    Promise.prototype.then = function () { throw new Error("mine") };
    JSON.parse = JSON.stringify = () => "mine";
    Object.defineProperty = Reflect.apply = String = Error = () => "mine";
    Array.prototype[Symbol.iterator] = undefined;
    return 1`;

  await run(code);

  await expectAlive();
});

test("a program that replaces JSON and Map still calls tools", async () => {
  const code = `JSON.parse = JSON.stringify = () => "mine"; Map.prototype.get = Map.prototype.set = () => "mine";
    return await tools.echo({ a: 1 })`;

  expect(await run(code)).toMatchObject({ output: { result: { a: 1 } } });
});

test.for([
  'await tools.echo(JSON.parse(\'{"__proto__": { "polluted": 1 }}\'))',
  "await tools.echo({ constructor: { prototype: { polluted: 1 } } })",
  'return JSON.parse(\'{"__proto__": { "polluted": 1 }}\')',
])("nothing that a program sends pollutes the host: %s", async (code) => {
  await run(code);

  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test.for(["tools['a\\nb/c']()", "tools['']()", "tools['x'.repeat(1e6)]()", "tools['\\0']()", "tools['__proto__']()"])(
  "an odd name of a tool is a tool that is not there: %s",
  async (call) => {
    const outcome = await run(`try { await ${call} } catch (error) { return error.code }`);

    expect(outcome).toMatchObject({
      output: { result: expect.stringMatching(/^(?:tool-not-found|address-invalid)$/u) },
    });
  },
);

test("tools cannot be changed, and are no promise", async () => {
  const code = `"use strict";
    const failures = [];
    for (const change of [() => { tools.echo = 1 }, () => { tools.echo.x = 1 }, () => Object.setPrototypeOf(tools, {})]) {
      try { change() } catch (error) { failures.push(error.name) }
    }
    return [failures, (await tools) === tools, JSON.stringify(tools)]`;

  expect(await run(code)).toMatchObject({ output: { result: [["TypeError", "TypeError", "TypeError"], true, "{}"] } });
});

test("1,000 timers are the most, and they end with the program", async () => {
  const code = `let made = 0; try { for (;;) { setTimeout(() => {}, 1e9); made++ } } catch (error) { return [made, error.message] }`;

  expect(await run(code)).toMatchObject({ output: { result: [1000, "Cannot wait: there are 1000 timers already"] } });
});

test("programs that start programs have no more than 16 threads", async () => {
  const inner = "await new Promise((resolve) => setTimeout(resolve, 20000))";
  const code = `await Promise.all(Array.from({ length: 16 }, () => tools.execute_code({ code: ${JSON.stringify(inner)} })))`;
  const started = Promise.all(
    Array.from({ length: 3 }, () => workspace.call("execute_code", { code }, { limitMs: 2500 })),
  );
  await new Promise((resolve) => setTimeout(resolve, 2000));

  const threads = process.getActiveResourcesInfo().filter((name) => name === "Worker" || name === "MessagePort");

  expect(threads.length).toBeLessThan(40);
  for (const outcome of await started) expect(codeOf(outcome)).toBe("call-timeout");
  await expectAlive();
});

function run(code: string): Promise<ToolOutcome> {
  return workspace.call("execute_code", { code });
}

async function expectAlive(): Promise<void> {
  expect(await run("return (await tools.echo({ a: 1 })).a")).toMatchObject({ status: "ok", output: { result: 1 } });
}

function okOutput(outcome: ToolOutcome): unknown {
  return outcome.status === "ok" ? outcome.output : outcome.error;
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.code : "ok";
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "ok";
}
