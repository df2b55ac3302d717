import { afterAll, describe, expect, test, type TestContext } from "vitest";

import {
  javascript,
  loops,
  nonsense,
  python,
  pythonLoops,
  pythonThrows,
  throws,
  typescript,
} from "../../../test/support/debug-programs.ts";
import { startDebugging } from "../../../test/support/debug-script.ts";
import { needDebugpy, needProgram } from "../../../test/support/need-program.ts";
import { findSandbox, type FoundSandbox } from "../../sandbox/find-sandbox.ts";
import type { SandboxName } from "../../sandbox/sandbox.ts";

const backends = [
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
] as const;
const opened = new Map<string, Promise<FoundSandbox>>();

afterAll(async () => {
  for (const sandbox of opened.values()) await (await sandbox).close();
});

describe.for(
  (
    [
      ["a.py", python, ["step a.py:8", "step a.py:6"]],
      ["a.mjs", javascript, ["step a.mjs:7", "breakpoint a.mjs:8"]],
      ["a.cjs", javascript, ["step a.cjs:7", "breakpoint a.cjs:8"]],
      ["a.ts", typescript, ["step a.ts:7", "breakpoint a.ts:8"]],
    ] as const
  ).flatMap((each) => backends.map((backend) => [...backend, ...each] as const)),
)("debugLauncher() in %s, %s: %s", ([name, program, file, text, last]) => {
  const open = (context: TestContext) => openSandbox(context, [name, program], file);
  test("stops before the first line, at a breakpoint, and after steps", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, { files: { [file]: text } });
    const { session, stopAfter } = debugged;

    const start = session.stopped;
    const [breakpoint] = await session.setBreakpoints(file, [{ line: 8 }]);
    const stops = [
      await stopAfter(session.continue),
      await stopAfter(session.stepInto),
      await stopAfter(session.stepOver),
      await stopAfter(session.stepOut),
      await stopAfter(session.stepOver),
    ];
    await session.setBreakpoints(file, []);
    stops.push(await stopAfter(session.continue));
    const outcome = await debugged.outcome;

    expect(start).toMatchObject({ reason: "start", file });
    expect(breakpoint).toMatchObject({ file, line: 8, requestedLine: 8, verified: true });
    expect(stops).toEqual([`breakpoint ${file}:8`, `step ${file}:3`, `step ${file}:4`, ...last, "ended exited"]);
    expect(outcome).toEqual({ status: "ok", output: "6" });
  });

  test("stops where a condition is true, and shows the stack and nested variables", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, { files: { [file]: text } });
    const { session, stopAfter } = debugged;
    const isPython = file.endsWith(".py");
    const [equals, one] = isPython ? ["==", "{'deep': 'x'}"] : ["===", '{deep: "x"}'];

    await session.setBreakpoints(file, [{ line: 4, condition: `number ${equals} 2` }]);
    const stop = await stopAfter(session.continue);
    const stack = await session.stack();
    const [locals] = await session.scopes(stack[0]?.id ?? 0);
    const variables = await session.variables(locals?.reference ?? 0);
    const result = variables.find((variable) => variable.name === "result");
    const parts = await session.variables(result?.reference ?? 0);
    const list = parts.find((variable) => /list/u.test(variable.name));
    const items = await session.variables(list?.reference ?? 0);
    const outer = await session.evaluate("index + 40", stack[1]?.id);
    session.terminate();
    await debugged.outcome;

    expect(stop).toBe(`breakpoint ${file}:4`);
    expect(stack.slice(0, 2)).toMatchObject([
      { name: "double", file, line: 4, isOwn: true },
      { name: "(top level)", file, line: 8, isOwn: true },
    ]);
    expect(variables).toContainEqual(expect.objectContaining({ name: "number", value: "2" }));
    expect(list?.value).toContain(isPython ? "[1, {'deep': 'x'}]" : "");
    expect(items.find((variable) => /^0*1$/u.test(variable.name))).toMatchObject({ value: one });
    expect(outer).toMatchObject({ ok: true, value: "42" });
  });

  test("evaluates, changes variables, and tells what an expression throws", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, { files: { [file]: text } });
    const { session, stopAfter } = debugged;

    await session.setBreakpoints(file, [{ line: file.endsWith(".py") ? 9 : 10 }]);
    await stopAfter(session.continue);
    const good = await session.evaluate("total * 7");
    const wrong = await session.evaluate("nowhere");
    const broken = await session.evaluate("1 +* 2");
    await session.evaluate("total = 99");
    const end = await stopAfter(session.continue);

    expect(good).toMatchObject({ ok: true, value: "42" });
    expect(wrong).toMatchObject({ ok: false, message: expect.stringMatching(/NameError|ReferenceError/u) });
    expect(broken).toMatchObject({ ok: false, message: expect.stringContaining("SyntaxError") });
    expect(end).toBe("ended exited");
    expect(await debugged.outcome).toEqual({ status: "ok", output: "99" });
  });

  test("says where a breakpoint is that cannot be where it was asked for", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, { files: { [file]: text } });
    const { session } = debugged;

    const [late] = await session.setBreakpoints(file, [{ line: 999 }]);
    const [elsewhere] = await session.setBreakpoints("../../etc/passwd", [{ line: 1 }]);
    const [other] = await session.setBreakpoints("none.py", [{ line: 1 }]);
    const [condition] = await session.setBreakpoints(file, [{ line: 4, condition: "1 +* 2" }]);
    session.terminate();
    await debugged.outcome;

    expect(late).toMatchObject(file.endsWith(".py") ? { line: 9, requestedLine: 999 } : { verified: false });
    expect(elsewhere).toMatchObject({ verified: false, message: "there is no such file in the skill" });
    expect(other).toMatchObject({ verified: false, message: "there is no such file in the skill" });
    expect(condition).toMatchObject({ verified: false, message: expect.stringContaining("SyntaxError") });
  });

  test("stops at an exception that nobody catches, with its variables", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, {
      files: { [file]: file.endsWith(".py") ? pythonThrows : throws },
    });
    const { session, stopAfter } = debugged;

    const stop = await stopAfter(session.continue);
    const value = await session.evaluate("secret + 1");
    const end = await stopAfter(session.continue);

    expect(stop).toMatch(new RegExp(`^exception ${file}:3 (?:Value)?Error: boom$`, "u"));
    expect(value).toMatchObject({ ok: true, value: "42" });
    expect(end).toBe("ended exited");
    const outcome = await debugged.outcome;
    expect(outcome).toMatchObject({ error: { code: "script-failed", details: { code: 1 } } });
    expect(JSON.stringify(outcome)).not.toMatch(/attach\.py|Debugger attached|debugger to disconnect/u);
  });

  test("pauses a script that loops, tells what it prints, and ends it", async (context) => {
    const sandbox = await open(context);
    const debugged = await startDebugging(sandbox, { files: { [file]: file.endsWith(".py") ? pythonLoops : loops } });
    const { session, stopAfter } = debugged;

    await session.continue();
    await expect.poll(() => debugged.printed()).toContain("turn 3");
    await expect(session.stack()).rejects.toThrow(/is running; pause it first/u);
    const stop = await stopAfter(session.pause);
    const count = debugged.printed().length;
    const stack = await session.stack();
    const end = await stopAfter(async () => session.terminate());
    const outcome = await debugged.outcome;

    expect(stop).toMatch(/^pause /u);
    expect(stack.length).toBeGreaterThan(0);
    expect(count).toBeGreaterThan(10);
    expect(end).toBe("ended terminated");
    expect(outcome).toMatchObject({ error: { code: "script-failed", details: { signal: "SIGKILL" } } });
    await expect(session.continue()).rejects.toThrow(/the script has ended/u);
  });

  test("ends a stopped script when the caller cancels", async (context) => {
    const sandbox = await open(context);
    const controller = new AbortController();
    const debugged = await startDebugging(sandbox, { files: { [file]: text }, signal: controller.signal });

    const end = await debugged.stopAfter(async () => controller.abort());

    expect(end).toBe("ended exited");
    expect(await debugged.outcome).toMatchObject({ error: { code: "call-cancelled" } });
  });
});

describe.for(backends)("debugLauncher() in %s", ([name, program]) => {
  const open = (context: TestContext, file = "a.mjs") => openSandbox(context, [name, program], file);

  test("debugs two scripts at once, each with its own breakpoints", async (context) => {
    const sandbox = await open(context, "a.py");
    const both = await Promise.all(
      [
        ["a.py", python],
        ["a.mjs", javascript],
      ].map(([file = "", text = ""]) => startDebugging(sandbox, { files: { [file]: text } })),
    );

    const stops = await Promise.all(
      both.map(async ({ session, stopAfter }, index) => {
        await session.setBreakpoints(session.script, [{ line: 3 + index }]);
        return stopAfter(session.continue);
      }),
    );
    for (const { session } of both) session.terminate();
    await Promise.all(both.map(({ outcome }) => outcome));

    expect(stops).toEqual(["breakpoint a.py:3", "breakpoint a.mjs:4"]);
  });

  test("keeps a step of Node that meets an exception which is caught", async (context) => {
    const sandbox = await open(context);
    const text =
      "function safe() { try { throw new Error('caught'); } catch { return 1; } }\nlet a = 0;\na = safe();\na += 1;\n";
    const debugged = await startDebugging(sandbox, { files: { "a.cjs": text } });
    const { session, stopAfter } = debugged;

    await session.setBreakpoints("a.cjs", [{ line: 3 }]);
    const stops = [await stopAfter(session.continue), await stopAfter(session.stepOver)];
    session.terminate();
    await debugged.outcome;

    expect(stops).toEqual(["breakpoint a.cjs:3", "step a.cjs:4"]);
  });

  test("leaves the end of a script that runs over its last line alone", async (context) => {
    const sandbox = await open(context, "a.py");
    const debugged = await startDebugging(sandbox, { files: { "a.py": "print('one')\n" } });

    const end = await debugged.stopAfter(debugged.session.stepOut);

    expect(end).toBe("ended exited");
    expect(await debugged.outcome).toEqual({ status: "ok", output: "one" });
  });

  test.for([
    ["floods its output", { "a.py": "while True: print('x' * 10000)" }, "output-flooded"],
    [
      "floods its output",
      { "a.mjs": "import { writeSync } from 'node:fs'; for (;;) writeSync(1, 'x'.repeat(10000));" },
      "output-flooded",
    ],
    [
      "ends the program that debugs it",
      { "a.mjs": "process.kill(process.ppid, 'SIGKILL'); for (;;);" },
      "script-failed",
    ],
    ["sends nonsense as its debugger", { "a.py": nonsense }, "script-failed"],
  ] as const)("ends a script that %s", async ([, files, code], context) => {
    const sandbox = await open(context, Object.keys(files)[0]);
    const before = performance.now();
    const debugged = await startDebugging(sandbox, { files });

    await debugged.session.continue().catch(() => {});
    const outcome = await debugged.outcome;

    expect(outcome).toMatchObject({ status: "failed", error: { code } });
    expect(debugged.session.hasEnded).toBe(true);
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  test("ends a script that does not answer because it closed every descriptor", async (context) => {
    const sandbox = await open(context, "a.py");
    const text = "import os, time\nos.closerange(3, 256)\nprint('closed')\ntime.sleep(600)";
    const debugged = await startDebugging(sandbox, { files: { "a.py": text } });

    const end = await debugged.stopAfter(() => debugged.session.continue().catch(() => {}));

    expect(end).toMatch(/^ended lost$/u);
    expect(debugged.printed()).toBe("closed\n");
    expect(await debugged.outcome).toMatchObject({ error: { code: "script-failed" } });
  });

  test("goes on with a script that closes descriptor 3", async (context) => {
    const sandbox = await open(context, "a.py");
    const text = "import os\nos.close(3)\nvalue = 42\nprint(value)";
    const debugged = await startDebugging(sandbox, { files: { "a.py": text } });
    const { session, stopAfter } = debugged;

    await session.setBreakpoints("a.py", [{ line: 4 }]);
    const stop = await stopAfter(session.continue);
    const value = await session.evaluate("value");
    await session.continue();

    expect([stop, value]).toMatchObject(["breakpoint a.py:4", { ok: true, value: "42" }]);
    expect(await debugged.outcome).toEqual({ status: "ok", output: "42" });
  });

  test("refuses a language that has no debugger, and runs nothing", async (context) => {
    const sandbox = await open(context);

    const started = startDebugging(sandbox, { files: { "a.sh": "echo ran" } });

    await expect(started).rejects.toThrow(/only scripts of Node and Python can be debugged/u);
  });
});

function openSandbox(
  context: TestContext,
  [name, program]: readonly [SandboxName, string],
  file: string,
): Promise<FoundSandbox> {
  needProgram(context, program);
  if (file.endsWith(".py")) needDebugpy(context);
  const sandbox = opened.get(name) ?? findSandbox({ name });
  opened.set(name, sandbox);
  return sandbox;
}
