import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { JsonObject, JsonValue } from "../../core/json.ts";
import { deriveScripts } from "./derive-scripts.ts";
import { toArgv } from "./to-argv.ts";

// As in real-command-lines.test.ts, for parsers that few machines have: each script says how to find out whether its own is there.
const folder = mkdtempSync(join(tmpdir(), "kitbag-parsers-"));
// A machine that has packages of npm elsewhere names the folder that holds them.
const packages = process.env["KITBAG_TEST_PACKAGES"] ?? join(import.meta.dirname, "../../..");
const link = join(folder, "node_modules");
symlinkSync(join(packages, "node_modules"), link);
afterAll(() => {
  unlinkSync(link);
  rmSync(folder, { recursive: true });
});

const fixtures = parseFixtures(readFileSync(new URL("fixtures/parsers.txt", import.meta.url), "utf8"));
/** Whether what a script needs is there, so that it is looked for once. */
const found = new Map<string, boolean>();

test("the fixtures have calls for every parser", () => {
  expect(fixtures.length).toBeGreaterThan(20);
});

test.for(fixtures)("toArgv() is taken by $file for what was meant: $input", async (fixture, { skip }) => {
  const { file, source, needs, tool: wanted, input, output } = fixture;
  if (process.env["KITBAG_REQUIRE_ALL"] !== "1") skip(isMissing(needs), `${toReason(needs)} is not on this machine`);
  const { scripts } = await deriveScripts([{ path: `scripts/${file}`, content: source }]);
  const [script] = scripts;
  const tool = script?.tools.find(({ name }) => wanted === undefined || name === wanted);
  if (script === undefined || tool === undefined) throw new Error(`${file} has no such tool`);
  const [program = "", ...first] = script.interpreter;

  const printed = run(program, [...first, write(file, source), ...toArgv(tool.mapping, input).argv]);

  expect(tool.confidence).toBe("declared");
  expect(JSON.parse(printed)).toEqual(output);
});

interface ParserFixture {
  readonly file: string;
  readonly needs: readonly string[];
  readonly source: string;
  /** The name of the tool. @default the only one */
  readonly tool: string | undefined;
  readonly input: JsonObject;
  readonly output: JsonValue;
}

function parseFixtures(text: string): readonly ParserFixture[] {
  return text
    .split(/^=== /mu)
    .slice(1)
    .flatMap((block) => {
      const [head = "", ...calls] = block.split(/^--- call /mu);
      const [file = "", need = "", ...lines] = head.split("\n");
      const fixture = { file, needs: JSON.parse(need.replace(/^needs /u, "")) as string[], source: lines.join("\n") };
      return calls.map((call) => {
        const [first = "", output = ""] = call.split("\n");
        const [, tool, input = ""] = /^(?:(\S+) )?(\{.*\})$/u.exec(first) ?? [];
        return { ...fixture, tool, input: JSON.parse(input) as JsonObject, output: JSON.parse(output) as JsonValue };
      });
    });
}

/** Whether what a script needs is not there: a package of npm, or a program that can be started with these words. */
function isMissing(needs: readonly string[]): boolean {
  const key = needs.join(" ");
  const [program = "", ...words] = needs;
  const start =
    program === "package" ? [process.execPath, write("find.mjs", `import ${JSON.stringify(words[0])}`)] : needs;
  const isFound = found.get(key) ?? spawnSync(toProgram(start[0] ?? ""), start.slice(1)).status === 0;
  found.set(key, isFound);
  return !isFound;
}

function write(file: string, source: string): string {
  const path = join(folder, file);
  writeFileSync(path, source);
  return path;
}

/** The tests' own Node and the system's Python, which has its packages, not whichever comes first on the path. */
function toProgram(name: string): string {
  if (name === "node") return process.execPath;
  return name === "python3" && existsSync("/usr/bin/python3") ? "/usr/bin/python3" : name;
}

function run(program: string, words: readonly string[]): string {
  const started = toProgram(program);
  const { status, stdout, stderr } = spawnSync(started, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}

/** `click of python3` for `python3 -c import click`, `ruby` where the program alone is needed. */
function toReason([program = "", , ...words]: readonly string[]): string {
  const library = /(?:import |require"|library\()(\w+)/u.exec(words.join(" "))?.[1];
  return library === undefined ? program : `${library} of ${program}`;
}
