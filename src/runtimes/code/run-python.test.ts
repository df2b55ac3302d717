import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { findSandbox, type FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { WorkspaceOptions } from "../../workspace/workspace.ts";
import { codeRuntime, type CodeRuntime } from "./code-runtime.ts";
import { createCodeTool } from "./create-code-tool.ts";

let sandbox: FoundSandbox;
let runtime: CodeRuntime;

beforeAll(async () => {
  sandbox = await findSandbox();
  runtime = codeRuntime({ sandbox, tools: () => [{ address: "add-two", tool: addTwo }], limits: { cpuMs: 1000 } });
});

afterAll(async () => {
  await runtime.close();
  await sandbox.close();
});

beforeEach((context) => needProgram(context, "/usr/bin/python3"));

test.for<[string, unknown]>([
  ["1 + 1", 2],
  ["x = 3\nreturn [x, None, {'a': True}]", [3, null, { a: true }]],
  ["import math\nmath.floor(2.5)", 2],
  ["def double(n):\n    return n * 2\n\ndouble(4)", 8],
  ["async def main():\n    return await tools.add_two(a=1)\nmain", 3],
  ["x = 1", null],
  ["# nothing", null],
  ["text = '''a\nb'''\ntext", "a\nb"],
])("runPython() answers with the result of %j", async ([code, result]) => {
  expect(await run(code)).toMatchObject({ status: "ok", output: { result, console: "" } });
});

test("runPython() calls tools by every name they have, with fields or an object", async () => {
  const code = `[await tools.add_two(a=1), await tools["add-two"]({"a": 2}), await tools.box.add_one(a=3), await tools["box/add_one"](a=4)]`;

  const outcome = await run(code);

  expect(outcome).toMatchObject({
    output: {
      result: [3, 4, 4, 5],
      calls: [{ tool: "add-two", status: "ok" }, { tool: "add-two" }, { tool: "box/add_one" }, { tool: "box/add_one" }],
    },
  });
});

test("runPython() lets calls run at the same time", async () => {
  const code = "import asyncio\nsum(await asyncio.gather(*[tools.add_two(a=n) for n in range(50)]))";

  expect(await run(code)).toMatchObject({ output: { result: 1325 } });
});

test("a call that fails raises a ToolError with code, message, tool and details", async () => {
  const code = `try:
    await tools.add_two(a="many")
except ToolError as error:
    result = [error.code, error.tool, str(error), len(error.details["problems"])]
result`;

  expect(await run(code)).toMatchObject({
    output: {
      result: [
        "input-invalid",
        "add-two",
        'Cannot call "add-two": the input is wrong: a: expected a number, found "many"',
        1,
      ],
    },
  });
});

test("what a program prints comes back, and only so much of it", async () => {
  const short = await run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n1");
  const long = await run("for n in range(3000): print('x' * 1000)");

  expect(short).toMatchObject({ output: { result: 1, console: "out\nerr" } });
  expect(long).toMatchObject({
    output: { console: expect.stringMatching(/x… \(only the first 32768 characters are kept\)$/u) },
  });
});

test.for<[string, string]>([
  ["\n\nundefined_name", "NameError: name 'undefined_name' is not defined (line 3)"],
  ["x = = 1", "SyntaxError: invalid syntax (line 1)"],
  ["x = 1\n  y = 2", "IndentationError: unexpected indent (line 2)"],
  ["raise SystemExit(3)", "SystemExit: 3 (line 1)"],
  ["raise KeyboardInterrupt()", "KeyboardInterrupt"],
  ["def down():\n    return down()\ndown()", "RecursionError"],
  ["await tools.add_too(a=1)", 'did you mean "add-two"? (line 1)'],
  ["import os\nos._exit(7)", "it ended with exit code 7 before it was finished"],
  ["import os\nos.write(3, b'no message\\n')\nawait tools.add_two(a=1)", "it wrote to the channel what is no message"],
  ["import os\nos.write(3, b'{\"id\": 1}\\n')\nawait tools.add_two(a=1)", "it wrote to the channel what is no message"],
  ["import os\nos.close(3)\nimport time\ntime.sleep(0.1)\nos._exit(0)", "before it was finished"],
  ["open('/etc/shadow')", "FileNotFoundError"],
  ["open('/opt/kitbag/code/run.py', 'w')", "Read-only file system"],
  ["import socket\nsocket.create_connection(('127.0.0.1', 22), 1)", "Error"],
])("a program that fails says why: %j", async ([code, text]) => {
  const outcome = await run(code);

  expect(codeOf(outcome)).toBe("code-failed");
  expect(messageOf(outcome)).toContain(text);
});

test.for(["object()", "float('nan')", "{1, 2}", "x = []\nx.append(x)\nx"])(
  "a result that is no JSON is refused: %j",
  async (code) => {
    expect(codeOf(await run(code))).toBe("output-invalid");
  },
);

test.for([
  "while True: pass",
  "sum(range(10 ** 15))",
  "import signal\nsignal.setitimer(signal.ITIMER_PROF, 0)\nwhile True: pass",
])("a program that computes too long is stopped: %j", async (code) => {
  expect(codeOf(await run(code))).toBe("call-timeout");
});

test("a program that takes too much memory is stopped", async () => {
  const outcome = await run("x = [bytearray(1000000) for n in range(10000)]");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "memory-exceeded", details: { limitBytes: 256 * 1024 * 1024 } },
  });
});

test("a program that waits for ever is ended with its call", async () => {
  const outcome = await run("import asyncio\nawait asyncio.Future()", { limitMs: 1000 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout", details: { limitMs: 1000 } } });
});

test("calls beyond the budget are refused", async () => {
  const small = codeRuntime({ sandbox, limits: { maxCalls: 3 } });
  const workspace = createWorkspace({ tools: [addTwo, createCodeTool({ languages: ["python"] })], runtimes: [small] });

  const outcome = await workspace.call("execute_code", {
    code: `made = 0
try:
    while True:
        await tools["add-two"](a=1)
        made += 1
except ToolError as error:
    result = [made, error.code]
result`,
  });

  await small.close();
  expect(outcome).toMatchObject({ output: { result: [3, "budget-spent"] } });
});

test("a program has an empty environment and a home of its own", async () => {
  const outcome = await run("import os\nsorted(os.environ)");

  expect(outcome).toMatchObject({ status: "ok" });
  expect(JSON.stringify(outcome)).not.toContain("KITBAG");
  expect(JSON.stringify(outcome)).not.toContain("npm");
});

const addTwo = defineTool({
  name: "add-two",
  description: "Adds two",
  input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  run: ({ a }) => Number(a) + 2,
});

async function run(code: string, callOptions: { limitMs?: number } = {}, options: WorkspaceOptions = {}) {
  const addOne = defineTool({
    name: "add_one",
    description: "Adds one",
    input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
    run: ({ a }) => Number(a) + 1,
  });
  const workspace = createWorkspace({
    ...options,
    tools: [addTwo, createCodeTool({ languages: ["javascript", "python"] })],
    components: [{ name: "box", tools: [addOne] }],
    runtimes: [runtime],
  });
  return workspace.call("execute_code", { code, language: "python" }, callOptions);
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.code : "ok";
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "ok";
}
