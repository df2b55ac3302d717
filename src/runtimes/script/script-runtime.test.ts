import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import {
  countProcesses,
  createScriptWorkspace,
  openTestSandbox,
  runScript,
  type TestScript,
} from "../../../test/support/run-script.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { coldLauncher, type Launch } from "./launch.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

test("scriptRuntime() keeps every character that was printed, also the last line break", async () => {
  const { outcome } = await runScript(sandbox, bash(String.raw`printf '\xef\xbb\xbf a\r\n\tb\x00c\n\n'`));

  expect(outcome).toEqual({ status: "ok", output: "\uFEFF a\r\n\tb\u0000c\n" });
});

test("scriptRuntime() answers with an empty text when nothing is printed", async () => {
  const { outcome } = await runScript(sandbox, bash("true"));

  expect(outcome).toEqual({ status: "ok", output: "" });
});

test("scriptRuntime() replaces bytes that are no UTF-8, and says so", async () => {
  const { outcome, log } = await runScript(sandbox, bash(String.raw`printf 'a\xff\xfeb\xc3'`));

  expect(outcome).toEqual({ status: "ok", output: "a\uFFFD\uFFFDb\uFFFD" });
  expect(log).toEqual(["Bytes on stdout that are no UTF-8 were replaced"]);
});

test("scriptRuntime() hands on pieces while the script runs, and cuts no character", async () => {
  const script = bash(String.raw`printf 'one \xc3'; sleep 0.2; printf '\xbc two'`);

  const { outcome, chunks } = await runScript(sandbox, script);

  expect(outcome).toEqual({ status: "ok", output: "one ü two" });
  // The pipe may hand over the rest in several pieces.
  expect([chunks[0], chunks.slice(1).join("")]).toEqual(["one ", "ü two"]);
});

const picture = {
  $content: [
    { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    { type: "text", text: "done" },
  ],
};

test.for([
  ["bash", "a.sh", `echo '${JSON.stringify(picture)}'`],
  ["python3", "a.py", `import json\nprint(json.dumps(json.loads('${JSON.stringify(picture)}'), indent=1))`],
  ["node", "a.mjs", `console.log(JSON.stringify(${JSON.stringify(picture)}, null, 1))`],
] as const)(
  "scriptRuntime() hands on the pictures that a script of %s prints",
  async ([program, file, code], context) => {
    needProgram(context, program);

    const { outcome, chunks } = await runScript(sandbox, { files: { [file]: code } });

    expect(outcome).toEqual({ status: "ok", output: picture });
    expect(chunks).toEqual([]);
  },
);

test.for([
  '{"$content": [1',
  '{"$content":[],"more":1}',
  '{"$content":{}}',
  'x {"$content":[]}',
  '{"$content":[{"type":"resource_link","name":"Result","uri":"file:///etc/passwd"}]}',
  '{"$content":[{"type":"resource_link","name":"Result","uri":"vscode://open"}]}',
  '{"$content":[{"type":"resource","resource":{"uri":"UI://page","mimeType":"text/html","text":"<script>"}}]}',
])("scriptRuntime() leaves %s a text", async (text) => {
  const { outcome } = await runScript(sandbox, bash(`printf '%s' '${text}'`));

  expect(outcome).toEqual({ status: "ok", output: text });
});

test("scriptRuntime() logs the lines of stderr", async () => {
  const { outcome, log } = await runScript(sandbox, bash("echo one >&2; printf 'two\\r\\nthree' >&2; echo out"));

  expect(outcome).toEqual({ status: "ok", output: "out" });
  expect(log).toEqual(["one", "two", "three"]);
});

test("scriptRuntime() stops logging where stderr is too long, and keeps its end", async () => {
  const script = bash("for i in $(seq 1 2000); do echo line $i >&2; done; exit 1");

  const { outcome, log } = await runScript(sandbox, { ...script, options: { maxErrorBytes: 1000 } });

  expect(log.length).toBeLessThan(130);
  expect(log.at(-1)).toContain("there was more on stderr");
  expect(outcome).toMatchObject({ error: { details: { stderr: expect.stringContaining("line 2000") } } });
});

test("scriptRuntime() parses what is printed if the tool says what it answers", async () => {
  const { outcome, chunks } = await runScript(sandbox, {
    ...bash(`echo ' {"count": 3} '`),
    output: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
  });

  expect(outcome).toEqual({ status: "ok", output: { count: 3 } });
  expect(chunks).toEqual([]);
});

test("scriptRuntime() says what was printed instead of JSON", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("echo Loading…; echo '{}'"), output: { type: "object" } });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "output-invalid" } });
  expect(messageOf(outcome)).toContain(String.raw`found "Loading…\n{}\n"`);
});

test("scriptRuntime() says that nothing was printed where JSON was expected", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("true"), output: { type: "object" } });

  expect(messageOf(outcome)).toContain("found nothing");
});

test("scriptRuntime() lets the workspace refuse JSON that does not fit", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("echo '[1]'"), output: { type: "object" } });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "output-invalid" } });
});

test.for(["[".repeat(100_000), '{"__proto__": {"a": 1}}', "1e999"])(
  "scriptRuntime() contains hostile JSON: %s",
  async (json) => {
    const { outcome } = await runScript(sandbox, {
      files: { "a.sh": "cat /skill/data.json", "data.json": json },
      output: { type: ["object", "array"] },
    });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "output-invalid" } });
  },
);

test("run() refuses a whole number that would come out with other digits, and leaves what is text alone", async () => {
  const script = bash("echo '{\"n\": 12345678901234567890}'");
  const output = { type: "object", properties: { n: { type: "integer" } } };

  const declared = await runScript(sandbox, { ...script, output });
  const text = await runScript(sandbox, script);

  expect(declared.outcome).toMatchObject({
    status: "failed",
    error: { code: "output-invalid", details: { problems: [{ path: "n", found: "12345678901234567890" }] } },
  });
  expect(text.outcome).toEqual({ status: "ok", output: '{"n": 12345678901234567890}' });
});

test("scriptRuntime() takes text as it is where a text is the answer", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("echo 42"), output: { type: "string" } });

  expect(outcome).toEqual({ status: "ok", output: "42" });
});

test("scriptRuntime() tells the last lines of stderr and what was printed when a script fails", async () => {
  const script = bash("echo partial; for i in $(seq 1 50); do echo line $i >&2; done; exit 7");

  const { outcome } = await runScript(sandbox, script);

  expect(outcome).toMatchObject({ status: "failed", error: { details: { code: 7, stdout: "partial\n" } } });
  expect(messageOf(outcome)).toMatch(/^Cannot finish "script": it ended with exit code 7: line 31\n[^]*line 50$/u);
});

test("scriptRuntime() keeps failures small, whatever was printed", async () => {
  const script = bash("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; exit 1");

  const { outcome } = await runScript(sandbox, script);

  expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed", details: { code: 1 } } });
});

test("scriptRuntime() tells the signal that ended a script", async () => {
  const { outcome } = await runScript(sandbox, bash("kill -ABRT $$"));

  expect(outcome).toMatchObject({ status: "failed", error: { details: { signal: "SIGABRT" } } });
});

test("scriptRuntime() stops a script that floods its output", async () => {
  const before = performance.now();
  const { outcome } = await runScript(sandbox, { ...bash("yes"), options: { maxOutputBytes: 100_000 } });

  expect(outcome).toMatchObject({ error: { code: "output-flooded", details: { limitBytes: 100_000 } } });
  expect(performance.now() - before).toBeLessThan(30_000);
});

test("scriptRuntime() takes exactly as much output as the limit", async () => {
  const { outcome } = await runScript(sandbox, {
    ...bash("head -c 100000 /dev/zero | tr '\\0' a"),
    options: { maxOutputBytes: 100_000 },
  });

  expect(outcome).toEqual({ status: "ok", output: "a".repeat(100_000) });
});

test("scriptRuntime() stops a script that floods stderr", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("yes >&2"), options: { maxOutputBytes: 100_000 } });

  expect(outcome).toMatchObject({ error: { code: "output-flooded" } });
});

test("scriptRuntime() tells of memory that was too much", async () => {
  const { outcome } = await runScript(sandbox, {
    files: { "a.cjs": "Buffer.alloc(900_000_000, 1);" },
    limits: { memoryBytes: 256 * 1024 * 1024 },
  });

  expect(outcome).toMatchObject({ error: { code: "memory-exceeded", details: { limitBytes: 256 * 1024 * 1024 } } });
});

test("scriptRuntime() ends a script at its deadline, and all that it started", async () => {
  const script = bash(
    "trap '' TERM INT HUP; (setsid sleep 4711.25 &) ; (trap '' TERM; sleep 4711.25) & echo early; sleep 4711.25",
  );
  const before = performance.now();

  const { outcome, chunks } = await runScript(sandbox, { ...script, limitMs: 3000 });
  const tookMs = performance.now() - before;
  await sleep(300);

  expect(outcome).toMatchObject({ error: { code: "call-timeout" } });
  expect(tookMs).toBeLessThan(30_000);
  expect(chunks).toEqual(["early\n"]);
  expect(countProcesses("4711.25")).toBe(0);
});

test("scriptRuntime() keeps what a script said until its time was over", async () => {
  const script = bash("echo step 1; echo careful >&2; sleep 4711.5");

  const { outcome } = await runScript(sandbox, { ...script, limitMs: 3000 });

  expect(outcome).toMatchObject({
    error: {
      code: "call-timeout",
      message: expect.stringMatching(/after 3000 ms\n→ it had printed: step 1\n→ and on stderr: careful$/u) as unknown,
      details: { untilThen: { stdout: "step 1\n", stderr: "careful" } },
    },
  });
});

test("scriptRuntime() keeps what a script said until it had too much memory or printed too much", async () => {
  const large = "require('node:fs').writeSync(1, 'step 1\\n');\nBuffer.alloc(900_000_000, 1);";

  const greedy = await runScript(sandbox, {
    files: { "a.cjs": large },
    limits: { memoryBytes: 256 * 1024 * 1024 },
  });
  const flooding = await runScript(sandbox, {
    ...bash("echo careful >&2; sleep 0.2; yes flood"),
    options: { maxOutputBytes: 100_000 },
  });

  expect(greedy.outcome).toMatchObject({
    error: { code: "memory-exceeded", details: { untilThen: { stdout: "step 1\n" } } },
  });
  expect(flooding.outcome).toMatchObject({
    error: {
      code: "output-flooded",
      details: { untilThen: { stdout: expect.stringContaining("flood\nflood") as unknown, stderr: "careful" } },
    },
  });
});

test("scriptRuntime() ends a script when the caller cancels", async () => {
  const controller = new AbortController();
  const run = runScript(sandbox, { ...bash("sleep 4712.5"), signal: controller.signal });
  await expect.poll(() => countProcesses("4712.5")).toBeGreaterThan(0);

  controller.abort();
  const { outcome } = await run;
  await sleep(300);

  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect(countProcesses("4712.5")).toBe(0);
});

test("scriptRuntime() does not wait for who holds the pipes after the script ended", async () => {
  const before = performance.now();

  const { outcome } = await runScript(sandbox, bash("(setsid sleep 4713.5 &); echo done"));
  const tookMs = performance.now() - before;

  expect(outcome).toEqual({ status: "ok", output: "done" });
  expect(tookMs).toBeLessThan(30_000);
  expect(countProcesses("4713.5")).toBe(0);
});

test("scriptRuntime() waits for a script that closed its output and lives on", async () => {
  const { outcome } = await runScript(sandbox, bash("echo out; exec >&- 2>&-; sleep 0.5; exit 4"));

  expect(outcome).toMatchObject({ error: { details: { code: 4, stdout: "out\n" } } });
});

test("scriptRuntime() runs 20 calls at once, each with its own input", async () => {
  const calls = Array.from({ length: 20 }, (_, index) =>
    runScript(sandbox, { ...bash('cat; echo " $1"'), command: { argv: [`arg ${index}`], stdin: `in ${index}` } }),
  );

  const runs = await Promise.all(calls);

  expect(runs.map(({ outcome }) => outcome)).toEqual(
    runs.map((_, index) => ({ status: "ok", output: `in ${index} arg ${index}` })),
  );
});

test("scriptRuntime() reads a large standard input", async () => {
  const stdin = "0123456789".repeat(500_000);

  const { outcome } = await runScript(sandbox, { ...bash("wc -c < /dev/stdin"), command: { stdin } });

  expect(outcome).toEqual({ status: "ok", output: "5000000" });
});

test("scriptRuntime() gives nothing to read when there is no standard input", async () => {
  const { outcome } = await runScript(sandbox, bash("cat | wc -c"));

  expect(outcome).toEqual({ status: "ok", output: "0" });
});

test("scriptRuntime() refuses a NUL character before anything is started", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("touch /tmp/x"), command: { argv: ["a\0b"] } });

  expect(outcome).toMatchObject({ error: { code: "input-invalid" } });
  expect(messageOf(outcome)).toContain("expected text without NUL characters, found one in argument 1");
});

test("scriptRuntime() says that an argument is too long for the operating system", async () => {
  const { outcome } = await runScript(sandbox, { ...bash("true"), command: { argv: ["x".repeat(2_000_000)] } });

  expect(outcome).toMatchObject({ error: { code: "input-invalid" } });
  expect(messageOf(outcome)).toContain("let the script read standard input or a file instead");
});

test("scriptRuntime() passes on an argument of the longest length there is", async () => {
  const argv = ["x".repeat(131_071)];

  const { outcome } = await runScript(sandbox, { ...bash("printf %s $#${#1}"), command: { argv } });

  expect(outcome).toEqual({ status: "ok", output: "1131071" });
});

test("scriptRuntime() says that all arguments together are too long", async () => {
  const argv = Array.from({ length: 40 }, () => "x".repeat(100_000));

  const { outcome } = await runScript(sandbox, { ...bash("true"), command: { argv } });

  expect(outcome).toMatchObject({ error: { code: "input-invalid" } });
});

test("scriptRuntime() turns a command that the system finds too long into a clear failure", async () => {
  const launcher = {
    start: async (): Promise<never> => {
      throw Object.assign(new Error("spawn E2BIG"), { code: "E2BIG" });
    },
  };

  const { outcome } = await runScript(sandbox, { ...bash("true"), options: { launcher } });

  expect(outcome).toMatchObject({ error: { code: "input-invalid" } });
});

test("scriptRuntime() gives a script the variables that it may see, and no others", async () => {
  vi.stubEnv("KITBAG_TEST_LEAK", "leaked");
  const values: Record<string, string> = { TOKEN: "t0ken-value", OTHER: "other-value" };

  const { outcome } = await runScript(sandbox, {
    ...bash("env | cut -d= -f1 | sort | tr '\\n' ' '; echo ${#TOKEN}"),
    permissions: { env: ["TOKEN", "ABSENT"] },
    command: { env: { FROM_INPUT: "x" } },
    options: { findSecret: (name) => values[name] },
  });

  expect(outcome).toEqual({
    status: "ok",
    output: "FROM_INPUT HOME KITBAG_FD KITBAG_SH LANG PATH PWD SHLVL TMPDIR TOKEN _ 11",
  });
});

test("scriptRuntime() keeps what decides where things are, and what is loaded, whatever was granted", async () => {
  const { outcome } = await runScript(sandbox, {
    ...bash('echo "$PATH $HOME ${LD_PRELOAD-none} ${BASH_ENV-none} $KITBAG_FD"'),
    permissions: { env: ["PATH", "HOME", "LD_PRELOAD", "BASH_ENV", "KITBAG_FD"] },
    options: { findSecret: () => "/of/the/host" },
  });

  expect(outcome).toEqual({ status: "ok", output: "/usr/bin:/bin /tmp none none 3" });
});

test("scriptRuntime() takes the values of secrets out of output, pieces, logs and failures", async () => {
  const { outcome, events } = await runScript(sandbox, {
    ...bash('printf "my %s" "${TOKEN:0:5}"; sleep 0.1; echo "${TOKEN:5}"; echo "$TOKEN" >&2; exit 1'),
    permissions: { env: ["TOKEN"] },
    options: { findSecret: () => "s3cret-value" },
  });

  expect(outcome).toMatchObject({ error: { details: { stdout: "my [TOKEN]\n", stderr: "[TOKEN]" } } });
  expect(JSON.stringify(events)).not.toMatch(/s3cret|value/u);
});

test("scriptRuntime() shows a value that is no secret", async () => {
  const { outcome } = await runScript(sandbox, {
    ...bash('echo "$REGION"'),
    permissions: { env: ["REGION"] },
    options: { findSecret: () => ({ value: "eu-west-1", shown: true }) },
  });

  expect(outcome).toEqual({ status: "ok", output: "eu-west-1" });
});

test("scriptRuntime() hands a launcher what is of this call apart from what is not", async () => {
  const launches: Launch[] = [];
  const cold = coldLauncher(sandbox);
  const { workspace } = createScriptWorkspace(sandbox, {
    ...bash('echo "$1$A"; cat'),
    command: { argv: ["x"], stdin: "in", env: { A: "a" } },
    options: { launcher: { start: (launch) => (launches.push(launch), cold.start(launch)) } },
  });

  await workspace.call("script", {});
  const outcome = await workspace.call("script", {});

  expect(outcome).toEqual({ status: "ok", output: "xa\nin" });
  expect(launches[0]).toMatchObject({ argv: ["/skill/a.sh", "x"], env: { A: "a" }, input: "in" });
  expect(launches[0]?.profile.environment).not.toHaveProperty("A");
  expect(launches[1]?.profile).toEqual(launches[0]?.profile);
  expect(launches[1]?.interpreter).toEqual(launches[0]?.interpreter);
});

test.for<[name: string, script: TestScript]>([
  ["bash", bash("git status")],
  ["sh", { files: { tool: "#!/bin/sh\ngit status" } }],
  ["Python", { files: { "a.py": "import subprocess\nsubprocess.run(['git', 'status'])" } }],
  ["Node", { files: { "a.mjs": "import { execFileSync } from 'node:child_process';\nexecFileSync('git');" } }],
  ["Ruby", { files: { "a.rb": "require 'open3'\nOpen3.capture2('git', 'status')" } }],
])("scriptRuntime() says which permission a %s script lacks to run a program", async ([name, script], context) => {
  if (name === "Ruby") needProgram(context, "ruby");
  if (name === "Python") needProgram(context, "python3");
  const { outcome } = await runScript(sandbox, script);

  expect(outcome).toMatchObject({ error: { code: "script-failed" } });
  expect(messageOf(outcome)).toContain('run = ["git"]');
});

test("scriptRuntime() runs a program that was granted", async (context) => {
  needProgram(context, "git");

  const { outcome } = await runScript(sandbox, { ...bash("git --version"), permissions: { run: ["git"] } });

  expect(outcome).toMatchObject({ status: "ok", output: expect.stringMatching(/^git version/u) });
});

test.for<[lack: string, cure: string, script: TestScript]>([
  ["a package", "the package no_such_package", { files: { "a.py": "import no_such_package" } }],
  ["a package of Node", "the package no-such", { files: { "a.mjs": "import 'no-such';" } }],
  [
    "a variable",
    'env = ["API_KEY"]',
    { files: { "a.py": "import os\nos.environ['API_KEY']" }, environment: ["API_KEY"] },
  ],
  [
    "the network",
    "network = [",
    { files: { "a.py": "import urllib.request\nurllib.request.urlopen('http://example.com')" } },
  ],
  [
    "a program that was granted and is not installed",
    "the program no-such-program is not on this machine: install it",
    { ...bash("no-such-program"), permissions: { run: ["no-such-program"] } },
  ],
  ["a program that it does not name", "a program was not found", bash("no-such-program 2>/dev/null")],
  ["a place to write", "write = [", bash("set -e; echo x > /skill/x")],
])("scriptRuntime() says what a script lacks: %s", async ([, cure, script], context) => {
  if ("a.py" in script.files) needProgram(context, "python3");
  const { outcome } = await runScript(sandbox, script);

  expect(outcome).toMatchObject({ error: { code: "script-failed" } });
  expect(messageOf(outcome)).toContain(cure);
});

test("scriptRuntime() refuses a profile without the skill's folder", async () => {
  const { outcome } = await runScript(sandbox, {
    ...bash("true"),
    options: {
      toProfile: () => ({ mounts: [], environment: {}, programs: [], limits: {} as never }),
    },
  });

  expect(outcome).toMatchObject({ error: { code: "sandbox-failed" } });
});

function bash(text: string): TestScript {
  return { files: { "a.sh": text } };
}

function messageOf(outcome: { readonly status: string; readonly error?: { readonly message: string } }): string {
  return outcome.error?.message ?? "";
}
