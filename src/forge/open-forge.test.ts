import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import {
  countWords,
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
} from "../../test/support/open-test-forge.ts";
import { needProgram } from "../../test/support/need-program.ts";
import type { CodeDraft, ForgeLanguage } from "./drafts/tool-draft.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("createTool() makes a tool that is live at once, and says how to call it", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const added: string[] = [];
  workspace.onChange((change) => added.push(...change.added.map(({ wireName }) => wireName)));

  const answer = expectLive(await forge.createTool(countWords));

  expect(answer).toMatchObject({
    name: "count-words",
    wireName: "count-words",
    version: "1.0.0",
    inputSchema: { properties: { text: { type: "string" } } },
    examples: [{ passed: true, got: { words: 3 } }],
  });
  expect(answer.howToCall[1]).toBe('Through call_tool: {"name": "count-words", "input": {"text":"one two three"}}');
  expect(added).toEqual(["count-words"]);
  expect(await outputOf(workspace, "count-words", { text: "a b" })).toEqual({ words: 2 });
});

test("createTool() writes a folder that a person can read", async () => {
  const { forge, directory } = await openTestForge(runtimes, { author: "ada" });

  await forge.createTool({ ...countWords, files: { "notes.md": "How it counts\n" } });

  const folder = join(directory, ".kitbag/tools/count-words");
  expect(readdirSync(folder).toSorted()).toEqual(["history.jsonl", "main.js", "manifest.json", "notes.md", "versions"]);
  expect(readdirSync(join(folder, "versions"))).toEqual(["1.0.0"]);
  expect(readFileSync(join(folder, "main.js"), "utf8")).toBe(countWords.code);
  expect(readFileSync(join(folder, "manifest.json"), "utf8")).toMatchInlineSnapshot(`
    "{
      "name": "count-words",
      "version": "1.0.0",
      "description": "Counts the words of a text",
      "tool_type": "script",
      "entry_file": "main.js",
      "output_schema": {
        "type": "object",
        "properties": {
          "words": {
            "type": "integer"
          }
        },
        "required": [
          "words"
        ]
      },
      "input_schema": {
        "type": "object",
        "properties": {
          "text": {
            "type": "string"
          }
        },
        "required": [
          "text"
        ]
      },
      "annotations": {
        "readOnlyHint": true
      },
      "examples": [
        {
          "input": {
            "text": "one two three"
          },
          "output": {
            "words": 3
          }
        }
      ],
      "author": "ada"
    }
    "
  `);
});

test.for<[ForgeLanguage, string]>([
  ["bash", 'read -r line\necho "got $line"\n'],
  [
    "javascript",
    'let text = "";\nfor await (const part of process.stdin) text += part;\nconsole.log("got " + text);\n',
  ],
  ["javascript", 'console.log("got " + require("node:fs").readFileSync(0, "utf8"));\n'],
  [
    "typescript",
    'import { readFileSync } from "node:fs";\nconst text: string = readFileSync(0, "utf8");\nconsole.log(`got ${text}`);\n',
  ],
  ["perl", 'my $line = <STDIN>;\nprint "got $line";\n'],
])("createTool() runs %s", async ([language, code]) => {
  const { forge, workspace } = await openTestForge(runtimes);

  const answer = await forge.createTool({
    name: "echo",
    description: "Says what it got",
    language,
    code,
    input: { type: "object", properties: { n: { type: "integer" } } },
    examples: [{ input: { n: 1 }, output: 'got {"n":1}' }],
  });

  expectLive(answer);
  expect(String(await outputOf(workspace, "echo", { n: 2 })).trim()).toBe('got {"n":2}');
});

test("createTool() does not let a tool named like a module get in its own way", async (context) => {
  needProgram(context, "python3");
  const { forge } = await openTestForge(runtimes);

  const answers = [];
  const code = 'import json, sys, random\nprint(json.dumps({"words": len(json.load(sys.stdin)["text"].split())}))\n';
  for (const name of ["json", "sys", "random"]) {
    answers.push(await forge.createTool({ ...countWords, name, language: "python", code }));
  }

  expect(answers.map(({ status }) => status)).toEqual(["live", "live", "live"]);
});

test("createTool() builds AssemblyScript, which takes arguments and gives structured output", async () => {
  const { forge, workspace } = await openTestForge(runtimes);

  const answer = await forge.createTool(addInWasm);

  expect(expectLive(answer).version).toBe("1.0.0");
  expect(await outputOf(workspace, "length", { text: "four" })).toEqual({ bytes: 15 });
}, 60_000);

test("createTool() answers with the compiler's errors and their line, and leaves nothing", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);

  const answer = expectRefused(await forge.createTool({ ...addInWasm, code: "let x: i32 = 1;\nprocess.nothing();\n" }));

  expect(answer.error.code).toBe("draft-refused");
  expect(answer.diagnostics).toMatchObject([{ severity: "error", code: "build-failed", file: "main.ts", line: 2 }]);
  expect(answer.error.message).toContain("nothing");
  expectNothing(workspace.getTool("length"), directory);
}, 60_000);

test("createTool() runs every example before the tool is live, and tells what came instead", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);
  const wrong = { input: { text: "a b" }, output: { words: 7 }, description: "two words" };

  const answer = expectRefused(await forge.createTool({ ...countWords, examples: [...countWords.examples, wrong] }));

  expect(answer.examples.map(({ passed }) => passed)).toEqual([true, false]);
  expect(answer.examples[1]).toMatchObject({ expected: { words: 7 }, got: { words: 2 } });
  expect(answer.error.message).toBe(
    [
      'Cannot make "count-words": 1 of 2 examples did not pass, so it is not live',
      "example 1 (two words) gave something else",
      '  input: {"text":"a b"}',
      '  expected: {"words":7}',
      '  got: {"words":2}',
    ].join("\n"),
  );
  expectNothing(workspace.getTool("count-words"), directory);
});

test("createTool() tells what a program says on stderr when it fails", async () => {
  const { forge, workspace, directory } = await openTestForge(runtimes);

  const answer = expectRefused(
    await forge.createTool({
      ...countWords,
      code: 'console.error("thinking");\n\nthrow new RangeError("no words");\n',
    }),
  );

  expect(answer.examples[0]).toMatchObject({ passed: false, error: { code: "script-failed" } });
  expect(answer.examples[0]?.stderr).toContain("thinking");
  expect(answer.error.message).toContain("RangeError: no words");
  expect(answer.error.message).toContain("main.js:3");
  expectNothing(workspace.getTool("count-words"), directory);
});

test("createTool() ends an example that never does, and leaves nothing", async () => {
  const { forge, directory } = await openTestForge(runtimes, { policy: { exampleLimitMs: 500 } });

  const answer = expectRefused(await forge.createTool({ ...sayTool("sleepy", "x"), code: "sleep 60\n" }));

  expect(answer.examples[0]?.error?.code).toBe("call-timeout");
  expectNothing(undefined, directory);
});

test("createTool() runs examples with exactly the tool's permissions: no network, no files, no environment", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const secret = join(directory, "secret.txt");
  writeFileSync(secret, "secret");
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  process.env["KITBAG_TEST_SECRET"] = "secret";
  onTestFinished(() => void delete process.env["KITBAG_TEST_SECRET"]);
  const code = `const seen = { file: require("node:fs").existsSync(${JSON.stringify(secret)}), env: "KITBAG_TEST_SECRET" in process.env };
const say = (network) => { console.log(JSON.stringify({ ...seen, network })); process.exit(); };
require("node:net").connect(${port}, "127.0.0.1").on("connect", () => say(true)).on("error", () => say(false));
`;

  const answer = await forge.createTool({
    ...countWords,
    code,
    output: { type: "object" },
    examples: [{ input: { text: "" } }],
  });

  expect(expectLive(answer).examples[0]?.got).toEqual({ file: false, env: false, network: false });
});

test("createTool() refuses a draft without examples, and says what to give", async () => {
  const { forge, directory } = await openTestForge(runtimes);

  const answer = expectRefused(await forge.createTool({ ...countWords, examples: [] }));

  expect(answer.diagnostics).toMatchObject([{ code: "examples-missing" }]);
  expect(answer.error.message).toContain("give at least one");
  expectNothing(undefined, directory);
});

test("createTool() checks schemas at birth, and the examples against them", async () => {
  const { forge } = await openTestForge(runtimes);
  const refusal = async (changes: Partial<CodeDraft>): Promise<string> =>
    expectRefused(await forge.createTool({ ...countWords, ...changes })).error.message;

  expect(await refusal({ input: { type: "objekt" } })).toContain("input.type");
  expect(await refusal({ input: { type: "string" } })).toContain('a schema of type "object"');
  expect(await refusal({ output: { type: "object", properties: { words: { type: "int" } } } })).toContain("output");
  expect(await refusal({ examples: [{ input: { txet: "a" } }] })).toContain('did you mean "text"');
  expect(await refusal({ examples: [{ input: { text: "a" }, output: { words: "one" } }] })).toContain(
    "examples[0].output",
  );
  expect(await refusal({ output: undefined as never })).toContain('without an "output" schema the output is text');
  expect(await refusal({ permissions: { netwrk: ["x"] } as never })).toContain("netwrk");
  expect(await refusal({ annotations: { readOnly: true, destructive: true } })).toContain("annotations");
});

test.for([
  "../x",
  "/etc/x",
  "a/b",
  "..",
  ".",
  "",
  "a b",
  "x@1",
  "-x",
  ".x",
  "a".repeat(65),
  "__proto__",
  "con",
  "NUL.txt",
  "x.",
  "call_tool",
  "Search_Tools",
  "é",
])("createTool() refuses the name %o, and nothing is written anywhere", async (name) => {
  const { forge, directory } = await openTestForge(runtimes);

  const answer = expectRefused(await forge.createTool({ ...countWords, name }));

  expect(answer.error.code).toBe("draft-refused");
  expect(readdirSync(directory)).toEqual([]);
});

test("createTool() refuses a name that is taken: by a tool made here, by another one, or but for case", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  workspace.add(defineTool({ name: "mine", description: "Is mine", run: () => 1 }));
  await forge.createTool(countWords);
  const reason = async (name: string): Promise<string> =>
    expectRefused(await forge.createTool({ ...countWords, name })).error.message;

  expect(await reason("count-words")).toContain("use update_tool");
  expect(await reason("Count-Words")).toContain("where case does not count");
  expect(await reason("mine")).toContain("was not made here");
  expect(await reason("MINE")).toContain("where case does not count");
});

test.for(["tools", "tools/count-words"])("createTool() does not write through a link at .kitbag/%s", async (place) => {
  const { forge, directory } = await openTestForge(runtimes);
  const elsewhere = mkdtempSync(join(tmpdir(), "kitbag-elsewhere-"));
  mkdirSync(join(directory, ".kitbag", place, ".."), { recursive: true });
  symlinkSync(elsewhere, join(directory, ".kitbag", place));

  const work = forge.createTool(countWords);

  await expect(work).rejects.toMatchObject({ code: "option-invalid" });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test.for<[string, Readonly<Record<string, string>>]>([
  ["leaves the folder", { "../x.py": "" }],
  ["is absolute", { "/x.py": "" }],
  ["hides", { ".env": "" }],
  ["is the manifest", { "Manifest.json": "{}" }],
  ["is a version", { "versions/9.9.9/main.js": "" }],
  ["is the history", { "history.jsonl": "" }],
  ["is the program itself", { "main.js": "" }],
  ["would not be counted", { "node_modules/x.js": "" }],
  ["is the same where case does not count", { "a.py": "", "A.py": "" }],
])("createTool() refuses a file that %s", async ([, files]) => {
  const { forge, directory } = await openTestForge(runtimes);

  const answer = expectRefused(await forge.createTool({ ...countWords, files }));

  expect(answer.diagnostics[0]?.code).toBe("file-invalid");
  expect(readdirSync(directory)).toEqual([]);
});

test("createTool() takes whatever somebody gives, and never throws for it", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const deep: Record<string, unknown> = {};
  for (let level = 0, inner = deep; level < 5000; level++) inner = inner["properties"] = {} as Record<string, unknown>;
  const circle: Record<string, unknown> = { ...countWords };
  circle["input"] = circle;
  const hostile: unknown[] = [
    undefined,
    null,
    7,
    "tool",
    [],
    {},
    { ...countWords, name: { toString: () => "x" } },
    { ...countWords, input: deep },
    circle,
    JSON.parse(
      '{"name": "x", "description": "x", "language": "bash", "code": "ls", "examples": [{"input": {"__proto__": 1}}]}',
    ),
    JSON.parse('{"__proto__": {"name": "x"}}'),
    { ...countWords, code: "x".repeat(3 * 1024 * 1024) },
    { ...countWords, code: "a\0b" },
    { ...countWords, description: "" },
    { ...countWords, language: "cobol" },
    { ...countWords, limits: { limitMs: Number.NaN } },
    { ...countWords, examples: Array.from({ length: 200 }, () => ({ input: { text: "x" } })) },
    {
      ...countWords,
      input: { type: "object", properties: { x: { enum: Array.from({ length: 100_000 }, (_, n) => `value ${n}`) } } },
    },
    { ...countWords, input: { type: "object", properties: { x: { type: "string", pattern: "(a+)+$" } } } },
    { ...countWords, unknown: 1 },
  ];

  const answers = [];
  for (const draft of hostile) answers.push(await forge.createTool(draft as never));

  expect(answers.map(({ status }) => status)).toEqual(hostile.map(() => "refused"));
  expectNothing(undefined, directory);
  expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
});

test("createTool() keeps to the number of tools that the policy allows", async () => {
  const { forge } = await openTestForge(runtimes, { policy: { maxTools: 1 } });
  await forge.createTool(sayTool("one", "1"));

  const answer = expectRefused(await forge.createTool(sayTool("two", "2")));

  expect(answer.error.message).toContain("there are 1 tools, and 1 may be");
});

test("createTool() stops when nobody waits any more, and leaves nothing", async () => {
  const { forge, directory } = await openTestForge(runtimes);
  const stop = new AbortController();

  const work = forge.createTool({ ...sayTool("slow", "x"), code: "sleep 30\n" }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 300);

  await expect(work).rejects.toMatchObject({ name: "AbortError" });
  expectNothing(undefined, directory);
});

test("openForge() finds the tools again that were made here, and runs them", async () => {
  const first = await openTestForge(runtimes);
  await first.forge.createTool(countWords);
  await first.forge.updateTool("count-words", { title: "Words" });
  await first.forge.close();

  const { directory, home } = first;
  const { forge, workspace } = await openTestForge(runtimes, { directory, home });

  expect(forge.listTools()).toMatchObject([{ name: "count-words", status: "live", version: "1.0.1" }]);
  expect(await outputOf(workspace, "count-words", { text: "a b" })).toEqual({ words: 2 });
  expect(await outputOf(workspace, "count-words@1.0.0", { text: "a" })).toEqual({ words: 1 });
});

test("state() is what the tool itself keeps", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool({
    name: "counter",
    description: "Counts its calls",
    language: "javascript",
    code: 'import { state } from "kitbag";\nconst n = ((await state.get("n")) ?? 0) + 1;\nawait state.set("n", n);\nconsole.log(n);\n',
    examples: [{ input: {}, output: "1" }],
  });

  await workspace.call("counter", {});
  await forge.state("counter").set("n", 41);

  expect(String(await outputOf(workspace, "counter")).trim()).toBe("42");
  expect(await forge.state("counter").get("n")).toBe(42);
  expect(() => forge.state("nobody")).toThrow("Cannot find the tool");
});

const addInWasm: CodeDraft = {
  name: "length",
  description: "Tells how many bytes its input has",
  language: "wasm-assemblyscript",
  code: `const piece = new ArrayBuffer(1024);
let bytes = 0;
for (let length = process.stdin.read(piece); length > 0; length = process.stdin.read(piece)) bytes += length;
process.stdout.write('{"bytes":' + bytes.toString() + "}");
`,
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { type: "object", properties: { bytes: { type: "integer" } }, required: ["bytes"] },
  examples: [{ input: { text: "a" }, output: { bytes: 12 } }],
};

function expectNothing(tool: unknown, directory: string): void {
  const tools = join(directory, ".kitbag/tools");
  expect(tool).toBeUndefined();
  expect(existsSync(tools) ? readdirSync(tools) : []).toEqual([]);
}
