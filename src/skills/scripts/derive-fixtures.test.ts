import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import type { JsonObject } from "../../core/json.ts";
import { checkSchema } from "../../core/schema/check-schema.ts";
import { deriveAllScripts } from "./derive-scripts.ts";
import { fromArgv } from "./from-argv.ts";
import type { DerivedScripts, ScriptFile, ScriptInterface, ScriptTool } from "./script-interface.ts";
import { toArgv } from "./to-argv.ts";

// Each file of fixtures has scripts in one style of writing, what must be derived from each to the letter, and calls with the
// command lines that they must become. A call is also read back, except with "call!", where several inputs mean one line.
// A script may have other files of its skill below it, each after "+++" and its name; what is reported stands after "!".
const files = ["python", "shell", "javascript", "other", "kinds", "misread"];
const cases = files.flatMap((file) => parseFixtures(readFixture(file)));
const derived = await deriveAllScripts(cases.map(({ files: own }) => ({ files: own })));
const table = cases.map((fixture, index) => ({ ...fixture, result: derived[index] as DerivedScripts }));
const calls = table.flatMap(({ name, calls: own, needs, result }) =>
  own.map((call) => ({ name, call, needs, findTool: () => toolOf(result, name, call.tool) })),
);

test("the fixtures have scripts in every style", () => {
  expect(table.length).toBeGreaterThan(110);
  expect(calls.length).toBeGreaterThan(90);
});

// Hand-written parsers are most of the fixtures; they are few of the scripts that people write, so the share of types says little.
test("of the scripts in every style, 93 % have a useful schema", (context) => {
  needProgram(context, "python3");
  const tools = table.flatMap(({ result }) => result.scripts.flatMap((script) => script.tools));
  const lists = (tool: ScriptTool): boolean => tool.mapping.parts.some((part) => part.kind !== "word");
  const isBlind = (tool: ScriptTool): boolean =>
    tool.confidence === "opaque" &&
    tool.mapping.parts.every((part) => part.kind === "word" || part.property === "args");
  const useful = tools.filter((tool) => !isBlind(tool)).length / tools.length;
  const typed = tools.filter((tool) => tool.confidence === "declared").length / tools.length;
  const empty = tools.filter((tool) => tool.confidence === "declared" && !lists(tool)).length;
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  process.stdout.write(
    `${tools.length} tools: useful ${percent(useful)}, fully typed ${percent(typed)} (of these ${empty} take nothing)\n`,
  );

  expect(useful).toBeGreaterThanOrEqual(0.93);
});

test.for(table)("deriveScripts() reads $name", ({ name, expected, needs, result }, context) => {
  for (const program of needs) needProgram(context, program);
  const script = result.scripts.find(({ path }) => path === `scripts/${name}`);

  const rendered = script === undefined ? "not a script" : render(script);

  const reported = result.diagnostics.map(({ code, message }) => `! ${code}: ${message}`);
  expect([rendered, ...reported].join("\n")).toBe(expected);
});

test.for(table)("deriveScripts() makes schemas of $name that can be used", ({ needs, result }, context) => {
  for (const program of needs) needProgram(context, program);
  const problems = result.scripts.flatMap(({ tools }) => tools.flatMap((tool) => checkSchema(tool.inputSchema)));

  expect(problems).toEqual([]);
});

test.for(calls)("toArgv() writes $call.input for $name", ({ call, needs, findTool }, context) => {
  for (const program of needs) needProgram(context, program);
  const made = toArgv(findTool().mapping, call.input);

  expect({ argv: made.argv, stdin: made.stdin }).toEqual({ argv: call.argv, stdin: call.stdin });
});

test.for(calls.filter(({ call }) => call.isInvertible))(
  "fromArgv() reads $call.argv of $name",
  ({ call, needs, findTool }, context) => {
    for (const program of needs) needProgram(context, program);
    const tool = findTool();
    const read = fromArgv(tool.mapping, tool.inputSchema, call.argv);

    expect(read).toEqual({ input: call.back, unknownFlags: [], unknownWords: [] });
  },
);

interface FixtureCall {
  readonly tool: number;
  readonly input: JsonObject;
  readonly back: JsonObject;
  readonly argv: readonly string[];
  readonly stdin: string | undefined;
  readonly isInvertible: boolean;
}

interface Fixture {
  readonly name: string;
  readonly files: readonly ScriptFile[];
  readonly expected: string;
  /** The programs without which it is read otherwise. */
  readonly needs: readonly string[];
  readonly calls: readonly FixtureCall[];
}

function readFixture(file: string): string {
  return readFileSync(new URL(`fixtures/${file}.txt`, import.meta.url), "utf8");
}

function parseFixtures(text: string): readonly Fixture[] {
  return text
    .split(/^=== /mu)
    .slice(1)
    .map((block) => {
      const [head = "", ...body] = block.split(/^--- /mu);
      const name = head.slice(0, head.indexOf("\n"));
      const [expected = "", ...sections] = body;
      const own = head.split(/^\+{3} /mu).map(parseFile);
      return {
        name,
        files: own,
        needs: own.some(isPython) ? ["python3"] : [],
        expected: expected.replace(/^expect\n/u, "").trimEnd(),
        calls: sections.map(parseCall),
      };
    });
}

function isPython({ path, content }: ScriptFile): boolean {
  return path.endsWith(".py") || /^#!.*python/u.test(String(content));
}

function parseFile(part: string): ScriptFile {
  const end = part.indexOf("\n");
  return { path: `scripts/${part.slice(0, end)}`, content: part.slice(end + 1) };
}

function parseCall(section: string): FixtureCall {
  const [head = "", argv = "[]", stdin] = section.trimEnd().split("\n");
  const [, mark, tool, input = "{}", back] = /^call(!?) (?:(\d+) )?(\{.*?\})(?: -> (\{.*\}))?$/u.exec(head) ?? [];
  return {
    tool: Number(tool ?? 0),
    input: JSON.parse(input) as JsonObject,
    back: JSON.parse(back ?? input) as JsonObject,
    argv: JSON.parse(argv) as string[],
    stdin: stdin?.replace(/^stdin /u, ""),
    isInvertible: mark === "" && stdin === undefined,
  };
}

function toolOf({ scripts }: DerivedScripts, name: string, index: number): ScriptTool {
  const tool = scripts.find(({ path }) => path === `scripts/${name}`)?.tools[index];
  if (tool === undefined) throw new Error("The fixture calls a tool that was not derived");
  return tool;
}

function render(script: ScriptInterface): string {
  const [program = "", first, ...rest] = script.interpreter;
  const run =
    first === "-c" ? `${program} -c …` : [program, first, ...rest].filter((word) => word !== undefined).join(" ");
  return [`${script.kind}: ${script.reason}`, `run: ${run}`, ...script.tools.flatMap(renderTool)].join("\n").trimEnd();
}

function renderTool({ name, description, confidence, source, inputSchema, mapping }: ScriptTool): readonly string[] {
  const properties = inputSchema["properties"] as Record<string, unknown>;
  const required = (inputSchema["required"] ?? []) as readonly string[];
  const parts = mapping.parts.map((part) => {
    if (part.kind === "word") return `  ${part.word}`;
    const { property, kind, ...others } = part;
    const how = Object.keys(others).length === 0 ? kind : `${kind} ${JSON.stringify(others)}`;
    return `  ${property}${required.includes(property) ? "!" : ""} ${JSON.stringify(properties[property])} ${how}`;
  });
  return [
    `tool ${name} (${confidence}, ${source}): ${description}`,
    ...parts,
    ...(mapping.separator === undefined ? [] : [`  -- ${mapping.separator}`]),
    ...(mapping.otherFields ? ["  and any other field"] : []),
    ...(mapping.otherFlags ? ["  and any other flag"] : []),
  ];
}
