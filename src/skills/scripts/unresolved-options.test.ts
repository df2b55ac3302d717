import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { deriveScripts } from "./derive-scripts.ts";
import type { ScriptTool } from "./script-interface.ts";
import { toArgv } from "./to-argv.ts";

// What cannot be resolved without running a script makes its schema open, with the parameters that are known; it is never a closed
// schema that calls itself declared.
const table: readonly { name: string; file: string; text: string; known: readonly string[] }[] = [
  {
    name: "parseArgs() inside a function that several calls give options to",
    file: "a.ts",
    text: `import { parseArgs } from "node:util";
function read(options: object) { return parseArgs({ options }); }
const first = read({ limit: { type: "string" } });
const second = read(await load());`,
    known: ["limit"],
  },
  {
    name: "parseArgs() with options that nothing here knows",
    file: "b.mjs",
    text: `import { parseArgs } from "node:util";
import { options } from "./options.mjs";
console.log(parseArgs({ options }).values);`,
    known: [],
  },
  {
    name: "parseArgs() with a computed key",
    file: "c.mjs",
    text: `import { parseArgs } from "node:util";
const name = process.env.FLAG;
parseArgs({ options: { limit: { type: "string" }, [name]: { type: "string" } } });`,
    known: ["limit"],
  },
  {
    name: "parseArgs() with options that a loop puts together",
    file: "d.mjs",
    text: `import { parseArgs } from "node:util";
const options = { limit: { type: "string" } };
for (const field of loadFields()) options[field.name] = { type: field.type };
parseArgs({ options });`,
    known: ["limit"],
  },
  {
    name: "commander's options in a loop",
    file: "e.mjs",
    text: `import { program } from "commander";
program.option("--limit <n>", "How many");
for (const { flag } of extras) program.option(flag);
program.parse();`,
    known: ["limit"],
  },
  {
    name: "yargs with options from elsewhere",
    file: "f.mjs",
    text: `import yargs from "yargs";
import { shared } from "./shared.mjs";
yargs(process.argv.slice(2)).options({ ...shared, limit: { type: "number" } }).parse();`,
    known: ["limit"],
  },
  {
    name: "minimist with settings from elsewhere",
    file: "g.cjs",
    text: `const argv = require("minimist")(process.argv.slice(2), { string: ["limit", ...more], boolean: names });`,
    known: ["limit"],
  },
  {
    name: "half a file",
    file: "h.mjs",
    text: `import { parseArgs } from "node:util";
const { values } = parseArgs({ options: { limit: { type: "string" } } });
function show( {`,
    known: ["limit"],
  },
  {
    name: "half a shell script",
    file: "i.sh",
    text: `while [ $# -gt 0 ]; do case "$1" in --limit) LIMIT="$2"; shift 2 ;; esac; done
if [ -n "$LIMIT" ]; then`,
    known: [],
  },
  {
    name: "argparse's arguments in a loop",
    file: "j.py",
    text: `import argparse, plugins
parser = argparse.ArgumentParser()
parser.add_argument("--limit")
for plugin in plugins.all():
    parser.add_argument(plugin.flag)
parser.parse_args()
`,
    known: ["limit"],
  },
  {
    name: "PHP's getopt() with options from elsewhere",
    file: "k.php",
    text: `<?php\n$o = getopt($short, ["limit:"]);\n`,
    known: ["limit"],
  },
  {
    name: "Getopt::Long with names that are put together",
    file: "l.pl",
    text: `use Getopt::Long;\nGetOptions('limit=s' => \\$limit, $extra => \\$other);\n`,
    known: ["limit"],
  },
];

test.for(table)("deriveScripts() leaves the schema open for $name", async ({ file, text, known }, context) => {
  if (file.endsWith(".py")) needProgram(context, "python3");
  const tool = await derive(file, text);

  const { properties, additionalProperties } = tool.inputSchema;
  expect(Object.keys(properties as object)).toEqual(expect.arrayContaining([...known]));
  expect(tool.confidence).toBe("opaque");
  expect(additionalProperties).not.toBe(false);
});

test("an open schema passes what is not known on as flags, before the positionals", async () => {
  const tool = await derive("b.mjs", table[1]?.text ?? "");

  expect(toArgv(tool.mapping, { limit: 3, verbose: true, quiet: false, tag: ["a", "-b"], "--": "no" }).argv).toEqual([
    "--limit",
    "3",
    "--verbose",
    "--tag",
    "a",
    "--tag=-b",
  ]);
});

test.for([
  {
    name: "options that one call gives to a helper function",
    text: `import { parseArgs } from "node:util";
const read = (options) => parseArgs({ options, allowPositionals: false });
read({ limit: { type: "string", short: "l" } });`,
  },
  {
    name: "options that a loop over a list makes",
    text: `import { parseArgs } from "node:util";
const options = {};
for (const name of ["limit"]) options[name] = { type: "string" };
parseArgs({ options });`,
  },
  {
    name: "options under a key that is a constant",
    text: `import { parseArgs } from "node:util";
const key = "limit";
parseArgs({ options: { [key]: { type: "string" } } });`,
  },
  {
    name: "options in a file with enums and types",
    text: `import { parseArgs } from "node:util";
enum Kind { A = "a" }
const options: Record<string, { type: "string" }> = { limit: { type: "string" } } as const;
const kind = <Kind>"a";
parseArgs({ options });`,
  },
])("deriveScripts() resolves $name", async ({ text }) => {
  const tool = await derive("a.ts", text);

  expect(Object.keys(tool.inputSchema["properties"] as object)).toEqual(["limit"]);
  expect(tool).toMatchObject({ confidence: "declared", inputSchema: { additionalProperties: false } });
});

test("deriveScripts() reads options in a file with JSX", async () => {
  const text = `import { parseArgs } from "node:util";
const { values } = parseArgs({ options: { limit: { type: "string" } } });
render(<Page limit={values.limit}>text</Page>);`;

  expect(await derive("page.tsx", text)).toMatchObject({
    confidence: "declared",
    inputSchema: { properties: { limit: {} } },
  });
});

async function derive(file: string, text: string): Promise<ScriptTool> {
  const { scripts } = await deriveScripts([{ path: `scripts/${file}`, content: text }]);
  const tool = scripts[0]?.tools[0];
  if (tool === undefined) throw new Error(`${file} is not a tool`);
  return tool;
}
