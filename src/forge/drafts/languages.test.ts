import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished, test, vi, type TestContext } from "vitest";

import { needCompiler } from "../../../test/support/build-kit.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { openTestForge, openTestRuntimes, type TestForge } from "../../../test/support/open-test-forge.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Language } from "../../packages/build/languages.ts";
import { createForgeTools } from "../tools/create-forge-tools.ts";
import type { CodeDraft, ForgeLanguage } from "./tool-draft.ts";

const runtimes = openTestRuntimes();
/** What was built for one test need not be built for the next. */
const home = mkdtempSync(join(tmpdir(), "kitbag-languages-"));
afterAll(async () => {
  await runtimes.close();
  rmSync(home, { recursive: true, force: true });
});

interface Sample {
  readonly language: ForgeLanguage;
  /** What runs it, if it is not part of every machine. */
  readonly program?: string;
  readonly compiler?: Language;
  /** Greets whoever is the input's `name`: {"greeting": "Hello Ada"}. */
  readonly code: string;
  /** A program with a mistake, and what the author must be told of it: which, and where. */
  readonly wrong: string;
  readonly told: readonly string[];
}

const samples: readonly Sample[] = [
  {
    language: "python",
    program: "/usr/bin/python3",
    code: `import json, sys
print(json.dumps({"greeting": "Hello " + json.load(sys.stdin)["name"]}))`,
    wrong: "import json\nprint(json.dump({})",
    told: ["main.py", "line 2", "'(' was never closed"],
  },
  {
    language: "javascript",
    code: `import { readFileSync } from "node:fs";
const { name } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({ greeting: "Hello " + name }));`,
    wrong: "\nnothing.more();",
    told: ["main.js:2", "nothing is not defined"],
  },
  {
    language: "typescript",
    code: `import { readFileSync } from "node:fs";
const { name } = JSON.parse(readFileSync(0, "utf8")) as { name: string };
console.log(JSON.stringify({ greeting: "Hello " + name }));`,
    wrong: "\nconst x: = 1;",
    told: ["main.ts:2", "Unexpected token"],
  },
  {
    language: "bash",
    code: `name=$(sed 's/.*"name":"\\([^"]*\\)".*/\\1/')
printf '{"greeting": "Hello %s"}' "$name"`,
    wrong: "if true; then\necho x",
    told: ["main.sh: line 3", "unexpected end of file"],
  },
  {
    language: "ruby",
    program: "ruby",
    code: `require "json"
arguments = JSON.parse($stdin.read)
puts JSON.generate({ greeting: "Hello #{arguments["name"]}" })`,
    wrong: `require "json"
puts JSON.parse($stdin.read).fetch("nam")`,
    told: ["main.rb:2", 'key not found: "nam"'],
  },
  {
    language: "perl",
    program: "perl",
    code: `use strict; use warnings; use JSON::PP;
local $/; my $arguments = decode_json(<STDIN>);
print encode_json({ greeting => "Hello $arguments->{name}" });`,
    wrong: "use strict;\nprint $undeclared;",
    told: ["main.pl line 2", '"$undeclared" requires explicit package name'],
  },
  {
    language: "php",
    program: "php",
    code: `<?php
$arguments = json_decode(file_get_contents("php://stdin"), true);
echo json_encode(["greeting" => "Hello " . $arguments["name"]]), "\\n";`,
    wrong: `<?php\necho no_such("x");`,
    told: ["main.php:2", "undefined function no_such()"],
  },
  {
    language: "lua",
    program: "lua",
    code: `local name = io.read("a"):match('"name"%s*:%s*"(.-)"')
print(string.format('{"greeting": "Hello %s"}', name))`,
    wrong: `local input = io.read("a")\nprint(input.nothing.more)`,
    told: ["main.lua:2", "attempt to index a nil value"],
  },
  {
    language: "r",
    program: "Rscript",
    code: `input <- paste(readLines(file("stdin"), warn = FALSE), collapse = "")
cat(sub('.*"name"\\\\s*:\\\\s*"([^"]*)".*', '{"greeting": "Hello \\\\1"}', input))`,
    wrong: `greet <- function(name) stop("no greeting for ", name)\ngreet("Ada")`,
    told: ['greet("Ada")', "no greeting for Ada"],
  },
  {
    language: "wasm-c",
    compiler: "c",
    code: `#include <stdio.h>
#include <string.h>
int main(void) {
  char input[4096] = {0};
  fread(input, 1, sizeof input - 1, stdin);
  char *name = strchr(strchr(input, ':'), '"') + 1;
  *strchr(name, '"') = 0;
  printf("{\\"greeting\\": \\"Hello %s\\"}\\n", name);
  return 0;
}`,
    wrong: `#include <stdio.h>\nint main(void) { printf("x") return 0; }`,
    told: ["main.c:2:29", "expected ';' after expression"],
  },
  {
    language: "wasm-c++",
    compiler: "c++",
    code: `#include <iostream>
#include <iterator>
#include <string>
int main() {
  std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  auto start = input.find('"', input.find(':')) + 1;
  std::cout << "{\\"greeting\\": \\"Hello " << input.substr(start, input.find('"', start) - start) << "\\"}";
}`,
    wrong: "int main() {\n  return nothing;\n}",
    told: ["main.cpp:2:10", "undeclared identifier 'nothing'"],
  },
  {
    language: "wasm-rust",
    compiler: "rust",
    code: `use std::io::Read;
fn main() {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).unwrap();
    let name = input.split('"').nth(3).expect("a name");
    println!("{{\\"greeting\\": \\"Hello {name}\\"}}");
}`,
    wrong: `fn main() {\n    let x: i32 = "text";\n}`,
    told: ["main.rs:2:18", "mismatched types"],
  },
  {
    language: "wasm-assemblyscript",
    compiler: "assemblyscript",
    code: `const buffer = new ArrayBuffer(4096);
const length = process.stdin.read(buffer);
const name = String.UTF8.decode(buffer.slice(0, length)).split('"')[3];
process.stdout.write('{"greeting": "Hello ' + name + '"}');`,
    wrong: `\nconst x: i32 = "text";`,
    told: ["main.ts:2:16", "is not assignable to type 'i32'"],
  },
  {
    language: "wasm-javascript",
    compiler: "javascript",
    code: `export default ({ name }) => ({ greeting: "Hello " + name });`,
    wrong: "\nexport default ({ name } => 1;",
    told: ["main.js:2:26", "Unexpected token '=>'"],
  },
];

/** To build a module three times takes long, and one language in C shows the life of all of them. */
const slow: ReadonlySet<ForgeLanguage> = new Set(["wasm-c++", "wasm-rust", "wasm-javascript"]);

test.for(samples.filter(({ language }) => !slow.has(language)))(
  "create_tool, update_tool and rollback_tool lead a tool in $language through its life",
  { timeout: 240_000 },
  async (sample, context) => {
    await need(context, sample);
    const { workspace } = await openWithTools();
    const greet = (): Promise<ToolOutcome> => workspace.call("greet", { name: "Bob" });
    const changes = { code: sample.code.replace("Hello", "Hi"), examples: toExamples("Hi Ada") };

    const created = await workspace.call("create_tool", toDraft(sample));
    const first = await greet();
    const updated = await workspace.call("update_tool", { name: "greet", changes });
    const second = await greet();
    const rolledBack = await workspace.call("rollback_tool", { name: "greet", version: "1.0.0" });
    const third = await greet();

    expect(created).toMatchObject({ status: "ok", output: { status: "live", version: "1.0.0", examplesPassed: 1 } });
    expect(first).toMatchObject({ output: { greeting: "Hello Bob" } });
    expect(updated).toMatchObject({ status: "ok", output: { status: "live", version: "1.0.1" } });
    expect(second).toMatchObject({ output: { greeting: "Hi Bob" } });
    expect(rolledBack).toMatchObject({ status: "ok", output: { status: "live", version: "1.0.0" } });
    expect(third).toMatchObject({ output: { greeting: "Hello Bob" } });
  },
);

test.for(samples)(
  "create_tool says what is wrong with $language, and where, and leaves nothing",
  { timeout: 240_000 },
  async (sample, context) => {
    await need(context, sample);
    const { workspace, forge } = await openWithTools();

    const broken = messageOf(await workspace.call("create_tool", { ...toDraft(sample), code: sample.wrong }));
    const other = messageOf(await workspace.call("create_tool", { ...toDraft(sample), examples: toExamples("Hi") }));

    for (const words of sample.told) expect(broken).toContain(words);
    expect(other).toContain('expected: {"greeting":"Hi"}\n  got: {"greeting":"Hello Ada"}');
    expect(forge.listTools()).toEqual([]);
    expect(workspace.getTool("greet")).toBeUndefined();
  },
);

test("create_tool says which program or compiler a language needs, and that there are others", async () => {
  const { workspace } = await openWithTools();
  vi.stubEnv("PATH", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const draft = (language: ForgeLanguage): object => toDraft({ language, code: "x", wrong: "", told: [] });

  const powershell = messageOf(await workspace.call("create_tool", draft("powershell")));
  const zig = messageOf(await workspace.call("create_tool", draft("wasm-zig")));

  expect(powershell).toContain("install PowerShell");
  expect(zig).toContain("no compiler for Zig is installed on this machine; install one:");
  for (const message of [powershell, zig]) expect(message).toContain("or write it in another language");
});

async function need(context: TestContext, { program, compiler }: Sample): Promise<void> {
  if (program !== undefined) needProgram(context, program);
  if (compiler !== undefined) await needCompiler(context, await runtimes.findSandbox(), compiler);
}

function toDraft({ language, code }: Sample): CodeDraft {
  return {
    name: "greet",
    description: "Greets somebody",
    language,
    code,
    input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    output: { type: "object", properties: { greeting: { type: "string" } }, required: ["greeting"] },
    examples: toExamples("Hello Ada"),
  };
}

function toExamples(greeting: string): CodeDraft["examples"] {
  return [{ input: { name: "Ada" }, output: { greeting } }];
}

async function openWithTools(): Promise<TestForge> {
  const opened = await openTestForge(runtimes, { home });
  for (const tool of createForgeTools(opened.forge)) opened.workspace.add(tool);
  return opened;
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "";
}
