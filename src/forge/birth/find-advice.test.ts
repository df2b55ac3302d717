import { afterAll, expect, test } from "vitest";

import { needCompiler } from "../../../test/support/build-kit.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { countWords, expectRefused, openTestForge, openTestRuntimes } from "../../../test/support/open-test-forge.ts";
import { findAdvice } from "../creation/answer.ts";
import type { CodeDraft } from "../drafts/tool-draft.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

type Case = readonly [what: string, changes: Partial<CodeDraft>, advice: string, program?: string];

const cases: readonly Case[] = [
  [
    "a package of Python",
    { language: "python", code: "import nothing_at_all\n" },
    '→ ask for the package: "dependencies": {"python": ["nothing_at_all"]}; or do without it',
    "python3",
  ],
  [
    "a package of npm",
    { language: "javascript", code: 'import "@no/such";' },
    '→ ask for the package: "dependencies": {"npm": ["@no/such"]}; or do without it',
  ],
  [
    "a library of Ruby",
    { language: "ruby", code: 'require "no_such"' },
    "→ no_such is not there, and packages can be asked for in Python and Node only; do without it",
    "ruby",
  ],
  [
    "a library of Lua",
    { language: "lua", code: 'require("no_such")' },
    "→ no_such is not there, and packages can be asked for in Python and Node only; do without it",
    "lua",
  ],
  [
    "a library of R",
    { language: "r", code: "library(nosuch)" },
    "→ nosuch is not there, and packages can be asked for in Python and Node only; do without it",
    "Rscript",
  ],
  [
    "a library of Perl",
    { language: "perl", code: "use No::Such;" },
    "→ No/Such is not there, and packages can be asked for in Python and Node only; do without it",
    "perl",
  ],
  [
    "a variable",
    { language: "python", code: 'import os\nos.environ["API_KEY"]\n' },
    '→ it sees no variable that it does not ask for: "permissions": {"env": ["API_KEY"]}',
    "python3",
  ],
  [
    "a file",
    { code: 'require("node:fs").readFileSync("/srv/data.csv");\n' },
    '→ it sees no file that it does not ask for: "permissions": {"read": ["/srv/data.csv"]}',
  ],
  [
    "a program",
    { language: "bash", code: "no-such-program --version" },
    '→ ask for the program: "permissions": {"run": ["no-such-program"]}',
  ],
  [
    "the network",
    { language: "python", code: 'import urllib.request\nurllib.request.urlopen("http://example.com")\n' },
    '→ ask for the hosts: "permissions": {"network": ["api.example.com"]}',
    "python3",
  ],
  [
    "a place to write",
    { language: "bash", code: "echo x > /skill/here" },
    '→ ask for the folder: "permissions": {"write": ["./data"]}; or write to /tmp',
  ],
  [
    "somebody who calls its function",
    { code: "function main(text) {\n  return { words: 3 };\n}\n" },
    "→ no function of the code is called for you: the program itself reads the input",
  ],
  [
    "a quiet output",
    { code: `console.log("counting");\n${countWords.code}` },
    "→ print one JSON value and nothing else, and anything else to standard error",
  ],
];

test.for(cases)("createTool() says what to write into the draft when %s is missing", async (given, context) => {
  const [, changes, advice, program] = given;
  if (program !== undefined) needProgram(context, program);
  const { forge } = await openTestForge(runtimes);

  const { error } = expectRefused(await forge.createTool({ ...countWords, ...changes }));

  expect(error.message).toContain(advice);
  expect(error.message).not.toMatch(/the skill's permissions|requirements\.txt|package\.json/u);
});

test("createTool() says what a program printed only once", async () => {
  const { forge } = await openTestForge(runtimes);
  const code = 'console.error("one\\n\\ntwo");\nthrow new Error("no greeting");\n';

  const { error } = expectRefused(await forge.createTool({ ...countWords, language: "javascript", code }));

  expect(error.message.split("Error: no greeting")).toHaveLength(2);
  expect(error.message).not.toContain("stderr:");
});

test("createTool() says that crates are not there, and that exports of AssemblyScript are not called", async (context) => {
  const sandbox = await runtimes.findSandbox();
  await needCompiler(context, sandbox, "rust");
  await needCompiler(context, sandbox, "assemblyscript");
  const { forge } = await openTestForge(runtimes);
  const make = async (changes: Partial<CodeDraft>): Promise<string> =>
    expectRefused(await forge.createTool({ ...countWords, ...changes })).error.message;

  const rust = await make({ language: "wasm-rust", code: "use serde_json::Value;\nfn main() {}\n" });
  const exported = "export function run(name: string): string { return name; }\n";
  const assembly = await make({ language: "wasm-assemblyscript", code: exported });

  expect(rust).toContain('\n→ there are no crates but std: do without them, or give a "Cargo.toml"');
  expect(assembly).toContain("\n→ exported functions are not called: write a program");
}, 120_000);

test("createTool() refuses code in Markdown, and PHP that is only text, before anything runs", async () => {
  const { forge } = await openTestForge(runtimes);
  const fenced = `\`\`\`js\n${countWords.code}\`\`\`\n`;

  const markdown = expectRefused(await forge.createTool({ ...countWords, code: fenced }));
  const php = expectRefused(await forge.createTool({ ...countWords, language: "php", code: 'echo "x";' }));

  expect(markdown.error.message).toContain("code: it begins with ```; give the program alone, without Markdown");
  expect(php.error.message).toContain('code: PHP begins with "<?php"');
});

const spaces = "only white space is different: write the output as it came, or have the program print it so";
const digits =
  "only the last digits of numbers are different: round them in the program, or write the output as it came";

test.for([
  [{ a: "x y" }, { a: "x  y" }, spaces],
  ["a\nb", "a b", spaces],
  ["a b", "a b\n\n", spaces],
  [{ a: 0.3 }, { a: 0.1 + 0.2 }, digits],
  [{ a: 0.3 }, { a: 0.300001 }, undefined],
  [{ a: 1e21 }, { a: 1e22 }, undefined],
  ["a", "b", undefined],
  [undefined, "b", undefined],
])("findAdvice() of %j and %j is %j", ([expected, got, advice]) => {
  const result = { index: 0, passed: false, input: {}, durationMs: 1 };

  expect(
    findAdvice({ ...result, ...(expected !== undefined && { expected }), ...(got !== undefined && { got }) }),
  ).toBe(advice);
});
