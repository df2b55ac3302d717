import { setTimeout as sleep } from "node:timers/promises";

import { defineTool } from "kitbag";
import { afterAll, describe, expect, test, type TestContext } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { countProcesses, openTestSandbox, runScript } from "../../../test/support/run-script.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

describe.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
  ["off", "sh"],
] as const)("scriptRuntime() in %s", ([name, program]) => {
  let opened: Promise<Sandbox> | undefined;
  const open = (context: TestContext): Promise<Sandbox> => {
    needProgram(context, program);
    opened ??= openTestSandbox(name);
    return opened;
  };
  afterAll(async () => (await opened)?.close());

  test("runs a script with arguments, standard input and variables", async (context) => {
    const sandbox = await open(context);
    const { outcome } = await runScript(sandbox, {
      files: {
        "a.py": "import os, sys\nprint(sys.argv[1:], sys.stdin.read(), os.environ['A'], os.environ.get('HOME'))",
      },
      command: { argv: ["$(id)", ""], stdin: "in", env: { A: "a" } },
    });

    const home = name === "off" ? "None" : "/tmp";
    expect(outcome).toEqual({ status: "ok", output: `['$(id)', ''] in a ${home}\n` });
  });

  test("lets Node import kitbag, as a module and as CommonJS", async (context) => {
    const sandbox = await open(context);
    const files = {
      "a.mjs": `import { createRequire } from "node:module";
import kitbag from "kitbag";
const { sync } = createRequire(import.meta.url)("kitbag");
console.log(await kitbag.call("shout", { text: "a" }), sync.call("shout", { text: "b" }));`,
    };

    const { outcome } = await runScript(sandbox, { files, tools: [shout] });

    expect(outcome).toEqual({ status: "ok", output: "A B\n" });
  });

  test("lets Python and Bash speak with Kitbag", async (context) => {
    const sandbox = await open(context);
    const python = await runScript(sandbox, {
      files: { "a.py": `import kitbag\nprint(kitbag.call("shout", {"text": "py"}))` },
      tools: [shout],
    });
    const bash = await runScript(sandbox, {
      files: { "a.sh": `. "$KITBAG_SH"; kitbag_call shout '{"text":"sh"}'` },
      tools: [shout],
    });

    expect([python.outcome, bash.outcome]).toEqual([
      { status: "ok", output: "PY\n" },
      { status: "ok", output: "SH\n" },
    ]);
  });

  test("runs TypeScript that imports TypeScript", async (context) => {
    const sandbox = await open(context);
    const { outcome } = await runScript(sandbox, {
      files: {
        "a.ts": `import { b } from "./b.ts";\nconst loaded = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
console.log(b, loaded.some((name: string) => name.includes("amaro")));`,
        "b.ts": "export const b: number = 2;",
      },
    });

    expect(outcome).toEqual({ status: "ok", output: "2 false\n" });
  });

  test("stops a script at its deadline", async (context) => {
    const sandbox = await open(context);
    const mark = `48${process.pid % 100}${name.length}.5`;
    const before = performance.now();

    const { outcome } = await runScript(sandbox, {
      files: { "a.sh": `trap '' TERM; sleep ${mark} & sleep ${mark}` },
      limitMs: 500,
    });
    const tookMs = performance.now() - before;
    await sleep(300);

    expect(outcome).toMatchObject({ error: { code: "call-timeout" } });
    expect(tookMs).toBeLessThan(3000);
    expect(countProcesses(mark)).toBe(0);
  });

  test("does not wait for a daemon that holds the pipes", async (context) => {
    const sandbox = await open(context);
    const before = performance.now();

    const { outcome } = await runScript(sandbox, { files: { "a.sh": "(setsid sleep 4.5 &); echo done" } });
    const tookMs = performance.now() - before;

    expect(outcome).toEqual({ status: "ok", output: "done\n" });
    expect(tookMs).toBeLessThan(3000);
  });

  test("survives a script that floods the channel, sends nonsense, and reads no answer", async (context) => {
    const sandbox = await open(context);
    const attacks = {
      nonsense: "import os\nfor i in range(100000):\n  os.write(3, b'nonsense\\n' * 100)",
      line: "import os\nfor i in range(100):\n  os.write(3, b'x' * 1000000)\nprint('survived')",
      deaf: `import os
os.set_blocking(3, False)
try:
  for i in range(100000):
    os.write(3, b'{"id":%d,"method":"state.list"}\\n' % i)
except BlockingIOError:
  print("survived")`,
      flood: `import os
for i in range(3000):
  os.write(3, b'{"method":"progress","params":{"done":%d}}\\n' % i)
print("survived")`,
      closed: "import os\nos.close(3)\nprint('survived')",
    };

    const runs = await Promise.all(
      Object.values(attacks).map((text) => runScript(sandbox, { files: { "a.py": text }, limitMs: 20_000 })),
    );

    const [nonsense, ...others] = runs.map(({ outcome }) => outcome);
    expect(nonsense).toMatchObject({
      error: { code: "script-failed", details: { stderr: expect.stringMatching(/Pipe|reset/u) } },
    });
    expect(others).toEqual(others.map(() => ({ status: "ok", output: "survived\n" })));
    const told = runs[3]?.events.filter(({ type }) => type === "call-progress");
    expect(told).toHaveLength(3000);
  });
});

const shout = defineTool({
  name: "shout",
  description: "Says a text loudly",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => String(text).toUpperCase(),
});
