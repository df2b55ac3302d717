import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { defineTool } from "kitbag";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createScriptWorkspace, openTestSandbox, runScript, writeFolder } from "../../../test/support/run-script.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

interface Helper {
  readonly name: string;
  readonly program?: string;
  readonly path: string;
  /** Uses everything there is, and prints what it answered as JSON. */
  readonly text: string;
}

const helpers: readonly Helper[] = [
  {
    name: "kitbag.py",
    program: "/usr/bin/python3",
    path: "a.py",
    text: `import json, kitbag
kitbag.progress("half", done=1, total=2)
kitbag.log("logged", {"n": 1})
kitbag.stream("piece")
kitbag.spend(0.25)
kitbag.state.set("text", "ü\\n\\"q\\" \\\\")
kitbag.skill_state.set("shared", "s")
answers = [
    kitbag.state.get("text"),
    kitbag.state.get("nothing"),
    kitbag.state.compare_and_set("text", 0, "x"),
    [e["key"] for e in kitbag.state.list("te")],
    kitbag.state.delete("text"),
    kitbag.skill_state.get("shared"),
    kitbag.call("shout", {"text": "hé"}),
    kitbag.secret("TOKEN") == "t0ken-value",
    kitbag.secret("ABSENT"),
    kitbag.user(),
]
try:
    kitbag.call("fail")
except kitbag.KitbagError as error:
    answers.append(error.code)
try:
    kitbag.secret("OTHER")
except kitbag.KitbagError as error:
    answers.append(error.code)
print(json.dumps(answers))`,
  },
  {
    name: "kitbag.mjs",
    path: "a.mjs",
    text: `import kitbag, { KitbagError } from "kitbag";
kitbag.progress("half", { done: 1, total: 2 });
kitbag.log("logged", { n: 1 });
kitbag.stream("piece");
kitbag.spend(0.25);
await kitbag.state.set("text", 'ü\\n"q" \\\\');
await kitbag.skillState.set("shared", "s");
const codeOf = (cause) => (cause instanceof KitbagError ? cause.code : "another");
console.log(JSON.stringify([
  await kitbag.state.get("text"),
  (await kitbag.state.get("nothing")) ?? null,
  await kitbag.state.compareAndSet("text", 0, "x"),
  (await kitbag.state.list("te")).map(({ key }) => key),
  await kitbag.state.delete("text"),
  await kitbag.skillState.get("shared"),
  await kitbag.call("shout", { text: "hé" }),
  (await kitbag.secret("TOKEN")) === "t0ken-value",
  (await kitbag.secret("ABSENT")) ?? null,
  await kitbag.user(),
  await kitbag.call("fail").catch(codeOf),
  await kitbag.secret("OTHER").catch(codeOf),
]));`,
  },
  {
    name: "kitbag.cjs without promises",
    path: "a.cjs",
    text: `const { sync: kitbag, progress, log, spend, stream } = require("kitbag");
spend(0.25);
progress("half", { done: 1, total: 2 });
log("logged", { n: 1 });
stream("piece");
kitbag.state.set("text", 'ü\\n"q" \\\\');
kitbag.skillState.set("shared", "s");
const codeOf = (work) => { try { return work(); } catch (cause) { return cause.code; } };
console.log(JSON.stringify([
  kitbag.state.get("text"),
  kitbag.state.get("nothing") ?? null,
  kitbag.state.compareAndSet("text", 0, "x"),
  kitbag.state.list("te").map(({ key }) => key),
  kitbag.state.delete("text"),
  kitbag.skillState.get("shared"),
  kitbag.call("shout", { text: "hé" }),
  kitbag.secret("TOKEN") === "t0ken-value",
  kitbag.secret("ABSENT") ?? null,
  kitbag.user(),
  codeOf(() => kitbag.call("fail")),
  codeOf(() => kitbag.secret("OTHER")),
]));`,
  },
  {
    name: "kitbag.rb",
    program: "ruby",
    path: "a.rb",
    text: `require "json"
require "kitbag"
Kitbag.progress("half", done: 1, total: 2)
Kitbag.log("logged", { n: 1 })
Kitbag.stream("piece")
Kitbag.spend(0.25)
Kitbag.state.set("text", "ü\\n\\"q\\" \\\\")
Kitbag.skill_state.set("shared", "s")
def code_of
  yield
rescue Kitbag::Error => error
  error.code
end
puts JSON.generate([
  Kitbag.state.get("text"),
  Kitbag.state.get("nothing"),
  Kitbag.state.compare_and_set("text", 0, "x"),
  Kitbag.state.list("te").map { |e| e["key"] },
  Kitbag.state.delete("text"),
  Kitbag.skill_state.get("shared"),
  Kitbag.call("shout", { text: "hé" }),
  Kitbag.secret("TOKEN") == "t0ken-value",
  Kitbag.secret("ABSENT"),
  Kitbag.user,
  code_of { Kitbag.call("fail") },
  code_of { Kitbag.secret("OTHER") },
])`,
  },
];

test.for(helpers)("$name lets a script do all that its tool may do", async (helper, context) => {
  need(context, helper);

  const { outcome, events, chunks, log } = await runScript(sandbox, {
    files: { [helper.path]: helper.text },
    permissions: { env: ["TOKEN", "ABSENT"] },
    options: { findSecret: (name) => (name === "TOKEN" ? "t0ken-value" : undefined) },
    tools: [shout, fail],
    user: "ada",
  });

  const answers = [
    'ü\n"q" \\',
    null,
    false,
    ["text"],
    true,
    "s",
    "HÉ",
    true,
    null,
    "ada",
    "tool-failed",
    "permission-refused",
  ];
  expect(outcome).toMatchObject({ status: "ok" });
  expect(outcome.status === "ok" && JSON.parse(String(outcome.output))).toEqual(answers);
  expect(chunks[0]).toBe("piece");
  expect(log).toEqual(["logged"]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "call-progress", progress: { message: "half", done: 1, total: 2 } }),
  );
  expect(events.at(-1)).toMatchObject({ type: "call-end", costUsd: 0.25 });
});

test("kitbag.sh lets a script do all that its tool may do", async () => {
  const { outcome, events, chunks, log } = await runScript(sandbox, {
    files: {
      "a.sh": String.raw`. "$KITBAG_SH"
kitbag_progress half 1 2
kitbag_log "logged $(printf '\001')"
kitbag_stream piece
kitbag_spend 0.25
kitbag_spend nothing
kitbag_state_set text $'ü\n"q" \\ \t\001' 60000
kitbag_state_get text
kitbag_state_get nothing || echo nothing
kitbag_state_set 'te"x' y
kitbag_state_list te
kitbag_state_compare_and_set text "" x || echo kept
kitbag_state_compare_and_set lock "" mine && echo locked
kitbag_state_delete text
kitbag_state_get text || echo deleted
kitbag_call shout '{"text":"hé"}'
kitbag_call shout '{"text":7}' || echo refused
[ "$(kitbag_secret TOKEN)" = t0ken-value ] && echo token
kitbag_secret ABSENT || echo absent
kitbag_secret OTHER || echo other
kitbag_user
kitbag_state_get || echo "no key"`,
    },
    permissions: { env: ["TOKEN", "ABSENT"] },
    options: { findSecret: (name) => (name === "TOKEN" ? "t0ken-value" : undefined) },
    tools: [shout, fail],
    user: "ada",
  });

  const lines = ['ü\n"q" \\ \t\u0001', "nothing", 'te"x', "text", "kept", "locked", "deleted", "HÉ", "refused"];
  expect(outcome).toEqual({
    status: "ok",
    output: [...lines, "token", "absent", "other", "ada", "no key"].join("\n"),
  });
  expect(chunks[0]).toBe("piece");
  expect(log[0]).toBe("logged \u0001");
  expect(log.slice(1)).toEqual([
    expect.stringContaining("kitbag: Cannot call "),
    expect.stringContaining("kitbag: Cannot run "),
    expect.stringContaining("kitbag: Cannot use the state under"),
  ]);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "call-progress", progress: { message: "half", done: 1, total: 2 } }),
  );
  expect(events.at(-1)).toMatchObject({ type: "call-end", costUsd: 0.25 });
});

const refusedScripts: readonly Pick<Helper, "path" | "program" | "text">[] = [
  {
    path: "a.py",
    program: "/usr/bin/python3",
    text: 'import kitbag\ndef main():\n    kitbag.call("shout")\nmain()',
  },
  { path: "a.cjs", text: 'require("kitbag").call("shout")' },
  { path: "a.mjs", text: 'import kitbag from "kitbag";\nkitbag.sync.call("shout");' },
  { path: "a.rb", program: "/usr/bin/ruby", text: 'require "kitbag"\nKitbag.call("shout")' },
  { path: "a.sh", text: '. "$KITBAG_SH"\nset -e\ntext=$(kitbag_call shout)\necho "$text"' },
];

test.for(refusedScripts)("$path that ends because of a refused call() says that first", async (script, context) => {
  if (script.program !== undefined) needProgram(context, script.program);

  const { outcome } = await runScript(sandbox, { files: { [script.path]: script.text }, ...undeclared });

  const refused =
    'Cannot call "shout" from "script": the tool does not declare it; make it again with "uses": ["shout"]';
  expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed", details: { refused } } });
  expect(outcome.status === "failed" && outcome.error.message.split("\n")[0]).toMatch(
    /^Cannot finish "script": Cannot call "shout" from "script": .*; so it ended with exit code 1: /u,
  );
});

const fullScripts: readonly Pick<Helper, "path" | "program" | "text">[] = [
  { path: "a.py", program: "/usr/bin/python3", text: 'import kitbag\nkitbag.state.set("key", "x" * 100)' },
  { path: "a.cjs", text: 'require("kitbag").state.set("key", "x".repeat(100))' },
  { path: "a.mjs", text: 'import kitbag from "kitbag";\nkitbag.sync.state.set("key", "x".repeat(100));' },
];

test.for(fullScripts)("$path that ends because a quota is reached has that outcome", async (script, context) => {
  if (script.program !== undefined) needProgram(context, script.program);

  const { outcome } = await runScript(sandbox, {
    files: { [script.path]: script.text },
    user: "ann",
    quotas: { each: { bytes: 50 } },
  });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "quota-reached", details: { user: "ann", quota: "bytes", limit: 50 } },
  });
  expect(outcome.status === "failed" && outcome.error.message).toBe(
    'Cannot use more: the user "ann" keeps 0 of at most 50 bytes, and this would be more; delete state, or wait until kept outputs are deleted. The operator can raise it: kitbag quota set ann --bytes <amount>',
  );
});

test("a script that goes on after a quota was reached ends as it says", async () => {
  const text = `const kitbag = require("kitbag");
try { kitbag.sync.state.set("key", "x".repeat(100)); } catch (error) { console.log(error.code); }`;

  const { outcome } = await runScript(sandbox, {
    files: { "a.cjs": text },
    user: "ann",
    quotas: { each: { bytes: 50 } },
  });

  expect(outcome).toEqual({ status: "ok", output: "quota-reached" });
});

test("a script that goes on after a refused call(), and fails later, tells why it failed", async () => {
  const text = `const kitbag = require("kitbag");
try { kitbag.sync.call("shout"); } catch {}
throw new Error("later");`;

  const { outcome } = await runScript(sandbox, { files: { "a.cjs": text }, ...undeclared });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "script-failed" } });
  expect(outcome.status === "failed" && outcome.error.details).not.toHaveProperty("refused");
});

test("kitbag.py prints why a call was refused before where, and leaves its own lines out", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const text =
    'import kitbag\ndef main():\n    kitbag.call("shout")\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    main()';

  const { log } = await runScript(sandbox, { files: { "a.py": text }, ...undeclared });

  expect(log[0]).toMatch(/^kitbag\.KitbagError: Cannot call "shout" from "script": .*"uses": \["shout"\]$/u);
  expect(log.slice(1)).toEqual([
    '  File "/skill/a.py", line 7, in <module>',
    "    main()",
    '  File "/skill/a.py", line 3, in main',
    '    kitbag.call("shout")',
  ]);
});

test("kitbag.sh finds its answer after complaints about other messages", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.sh": String.raw`. "$KITBAG_SH"
echo nonsense >&3; sleep 0.2
kitbag_call shout '{"text":"a"}' || echo failed
kitbag_call shout '{"text":"b"}'
text=$(kitbag_call shout '{"text":"c"}'); echo "$text"
kitbag_call shout '{"text":"d"}'`,
    },
    tools: [shout],
  });

  expect(outcome).toEqual({ status: "ok", output: "failed\nB\nC\nD" });
});

const expecting: readonly Helper[] = [
  {
    name: "kitbag.mjs",
    path: "a.mjs",
    text: `import kitbag from "kitbag";
const { state } = kitbag;
console.log(JSON.stringify([
  await state.compareAndSet("a", { version: 0 }, 1),
  await state.compareAndSet("a", { value: undefined }, 2),
  await state.compareAndSet("a", { value: 1 }, 2),
  kitbag.sync.state.compareAndSet("a", { version: 7 }, 3),
  await state.compareAndSet("a", null, 3).catch(({ message }) => message.slice(0, 23)),
  await state.get("a"),
]));`,
  },
  {
    name: "kitbag.py",
    program: "/usr/bin/python3",
    path: "a.py",
    text: `import json, kitbag
state = kitbag.state
def refused():
    try:
        return state.compare_and_set("a", None, 3)
    except kitbag.KitbagError as error:
        return str(error)[:23]
print(json.dumps([
    state.compare_and_set("a", {"version": 0}, 1),
    state.compare_and_set("a", 0, 2),
    state.compare_and_set("a", {"value": 1}, 2),
    state.compare_and_set("a", {"version": 7}, 3),
    refused(),
    state.get("a"),
]))`,
  },
  {
    name: "kitbag.rb",
    program: "/usr/bin/ruby",
    path: "a.rb",
    text: `require "json"
require "kitbag"
state = Kitbag.state
refused = begin
  state.compare_and_set("a", nil, 3)
rescue Kitbag::Error => error
  error.message[0, 23]
end
first = state.compare_and_set("a", { version: 0 }, 1)
puts JSON.generate([
  first,
  state.compare_and_set("a", 0, 2),
  state.compare_and_set("a", { value: 1 }, 2),
  state.compare_and_set("a", { version: 7 }, 3),
  refused,
  state.get("a"),
])`,
  },
];

test.for(expecting)("$name writes only over the version or the value that is expected", async (helper, context) => {
  need(context, helper);

  const { outcome } = await runScript(sandbox, { files: { [helper.path]: helper.text } });

  const output = outcome.status === "ok" ? (JSON.parse(String(outcome.output)) as unknown) : outcome;
  expect(output).toEqual([true, false, true, false, 'Cannot use "version": f', 2]);
});

test("kitbag.mjs answers calls that are made at once, and sync ones among them", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.mjs": `import kitbag from "kitbag";
const calls = Array.from({ length: 50 }, (_, index) => kitbag.call("shout", { text: "n" + index }));
const between = kitbag.sync.call("shout", { text: "sync" });
console.log((await Promise.all(calls)).join(" "), between);`,
    },
    tools: [shout],
  });

  const expected = Array.from({ length: 50 }, (_, index) => `N${index}`).join(" ");
  expect(outcome).toEqual({ status: "ok", output: `${expected} SYNC` });
});

test("kitbag.mjs is there beside the packages of a skill", async () => {
  const packages = writeFolder({ "dep/package.json": '{ "main": "a.js" }', "dep/a.js": 'module.exports = "dep";' });

  const { outcome } = await runScript(sandbox, {
    files: {
      "a.mjs": `import dep from "dep";
import { createRequire } from "node:module";
import kitbag from "kitbag";
const require = createRequire(import.meta.url);
console.log(dep, require("dep"), await kitbag.call("shout", { text: "x" }), require("kitbag") === kitbag);`,
    },
    mounts: [{ source: packages, target: "/node_modules" }],
    tools: [shout],
  });

  expect(outcome).toEqual({ status: "ok", output: "dep dep X true" });
});

test("kitbag.mjs keeps a script alive only while it waits for an answer", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.mjs": `import kitbag from "kitbag";
setTimeout(() => console.log("too late"), 10_000).unref();
await kitbag.state.set("a", 1);
kitbag.call("shout", { text: "x" }).then(console.log);`,
    },
    tools: [shout],
  });

  expect(outcome).toEqual({ status: "ok", output: "X" });
});

test("kitbag.py counts right when 20 calls count at once", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { workspace } = createScriptWorkspace(sandbox, {
    files: { "a.py": `import kitbag\nprint(kitbag.state.update("count", lambda n: n + 1, 0))` },
  });

  const outcomes = await Promise.all(Array.from({ length: 20 }, () => workspace.call("script", {})));

  const counts = outcomes.map((outcome) => (outcome.status === "ok" ? Number(outcome.output) : outcome));
  expect(counts.toSorted((left, right) => Number(left) - Number(right))).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});

test("kitbag.py is safe to be used by several threads", async (context) => {
  needProgram(context, "/usr/bin/python3");
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.py": `import kitbag
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    print(list(pool.map(lambda n: kitbag.call("shout", {"text": f"n{n}"}), range(20)))[19])`,
    },
    tools: [shout],
  });

  expect(outcome).toEqual({ status: "ok", output: "N19" });
});

const folder = join(import.meta.dirname, "inside");

test.for<[name: string, command: readonly [string, ...string[]], env: Record<string, string>]>([
  [
    "kitbag.py",
    ["/usr/bin/python3", "-c", "import kitbag\nkitbag.state.get('x')"],
    { PYTHONPATH: join(folder, "python") },
  ],
  ["kitbag.cjs", [process.execPath, "-e", `require("${folder}/node/kitbag.cjs").sync.state.get("x")`], {}],
  [
    "kitbag.mjs",
    [process.execPath, "--input-type=module", "-e", `import k from "${folder}/node/kitbag.cjs"; await k.call("x")`],
    {},
  ],
  ["kitbag.rb", ["ruby", "-rkitbag", "-e", "Kitbag.log('x')"], { RUBYLIB: join(folder, "ruby") }],
  ["kitbag.sh", ["bash", "-c", `. ${folder}/shell/kitbag.sh; kitbag_log x`], {}],
])("%s says so where there is no Kitbag", async ([, [program, ...words], env], context) => {
  needProgram(context, program);

  const failed = promisify(execFile)(program, words, { env: { PATH: process.env["PATH"], ...env } });

  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringContaining("does not run in Kitbag: KITBAG_FD is not set"),
  });
});

test("kitbag.sh says that it needs bash", async () => {
  const failed = promisify(execFile)("dash", ["-c", `. ${folder}/shell/kitbag.sh`]);

  await expect(failed).rejects.toMatchObject({
    stderr: "kitbag: this file needs bash; start the script with #!/usr/bin/env bash\n",
  });
});

function need(context: TestContext, { program }: Helper): void {
  if (program !== undefined) needProgram(context, program);
}

const shout = defineTool({
  name: "shout",
  description: "Says a text loudly",
  input: {
    type: "object",
    properties: { text: { type: "string", pattern: "^[^0-9]" } },
    required: ["text"],
    additionalProperties: false,
  },
  run: ({ text }) => String(text).toUpperCase(),
});

const undeclared = { tools: [shout], uses: [] };

const fail = defineTool({
  name: "fail",
  description: "Always fails",
  run() {
    throw new Error("on purpose");
  },
});
