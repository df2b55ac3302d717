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
        "a.sh": `printf '[%s]' "$@"; cat; echo " $A \${HOME-none}"`,
      },
      command: { argv: ["$(id)", ""], stdin: "in", env: { A: "a" } },
    });

    const home = name === "off" ? "none" : "/tmp";
    expect(outcome).toEqual({ status: "ok", output: `[$(id)][]in a ${home}` });
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

    expect(outcome).toEqual({ status: "ok", output: "A B" });
  });

  test.for([
    ["python3", { "a.py": `import kitbag\nprint(kitbag.call("shout", {"text": "hi"}))` }],
    ["bash", { "a.sh": `. "$KITBAG_SH"; kitbag_call shout '{"text":"hi"}'` }],
  ] as const)("lets %s speak with Kitbag", async ([language, files], context) => {
    needProgram(context, language);
    const sandbox = await open(context);

    const { outcome } = await runScript(sandbox, { files, tools: [shout] });

    expect(outcome).toEqual({ status: "ok", output: "HI" });
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

    expect(outcome).toEqual({ status: "ok", output: "2 false" });
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
    expect(tookMs).toBeLessThan(30_000);
    expect(countProcesses(mark)).toBe(0);
  });

  test("does not wait for a daemon that holds the pipes", async (context) => {
    const sandbox = await open(context);
    const before = performance.now();

    const { outcome } = await runScript(sandbox, { files: { "a.sh": "(setsid sleep 45.5 &); echo done" } });
    const tookMs = performance.now() - before;

    expect(outcome).toEqual({ status: "ok", output: "done" });
    expect(tookMs).toBeLessThan(30_000);
  });

  test("survives a script that floods the channel, sends nonsense, and reads no answer", async (context) => {
    needProgram(context, "perl");
    const sandbox = await open(context);
    const attacks = {
      nonsense: `put("nonsense\\n" x 100) for 1..100000;`,
      line: `put("x" x 1_000_000) for 1..100;`,
      deaf: `use IO::Handle; $channel->blocking(0);
for my $id (0..100000) { defined syswrite($channel, qq({"id":$id,"method":"state.list"}\\n)) or last }`,
      flood: `put(qq({"method":"progress","params":{"done":$_}}\\n)) for 0..2999;`,
      closed: "close $channel;",
    };
    const toScript = (text: string): string => `$SIG{PIPE} = "IGNORE"; open(my $channel, ">&=", 3) or die "$!";
sub put { defined syswrite($channel, $_[0]) or die "$!" }
${text}
print "survived\\n";`;

    const runs = await Promise.all(
      Object.values(attacks).map((text) => runScript(sandbox, { files: { "a.pl": toScript(text) }, limitMs: 20_000 })),
    );

    const [nonsense, ...others] = runs.map(({ outcome }) => outcome);
    expect(nonsense).toMatchObject({
      error: { code: "script-failed", details: { stderr: expect.stringMatching(/pipe|reset/u) } },
    });
    expect(others).toEqual(others.map(() => ({ status: "ok", output: "survived" })));
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
