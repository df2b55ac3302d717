import { expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { deriveScripts } from "../derive-scripts.ts";
import type { ScriptTool } from "../script-interface.ts";
import { toArgv } from "../to-argv.ts";

async function toolOf(path: string, content: string): Promise<ScriptTool | undefined> {
  const { scripts } = await deriveScripts([{ path: `scripts/${path}`, content }]);
  return scripts[0]?.tools[0];
}

test.for([
  ["a.py", "import json, sys\nfor row in json.load(sys.stdin):\n    print(row)"],
  ["b.py", "import json, sys\nrows = json.loads(sys.stdin.read())\nprint(len(rows), sorted(rows))"],
  [
    "a.mjs",
    'let text = "";\nfor await (const piece of process.stdin) text += piece;\nconst rows = JSON.parse(text);\nfor (const row of rows) console.log(row);',
  ],
  [
    "b.js",
    'const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));\nconsole.log(rows.map((row) => row.id), rows.length);',
  ],
  [
    "c.js",
    'const all = [];\nprocess.stdin.on("data", (part) => all.push(part));\nprocess.stdin.on("end", () => {\n  const rows = JSON.parse(Buffer.concat(all));\n  console.log([...rows].length);\n});',
  ],
] as const)("the JSON that %s reads from standard input is a list", async ([path, text], context) => {
  if (path.endsWith(".py")) needProgram(context, "python3");
  const tool = await toolOf(path, text);

  expect(tool?.inputSchema).toMatchObject({ properties: { stdin: { type: "array" } }, required: ["stdin"] });
  expect(tool && toArgv(tool.mapping, { stdin: [1, { a: 2 }] }).stdin).toBe('[1,{"a":2}]');
});

test.for([
  ["a.py", 'import json, sys\ndata = json.load(sys.stdin)\nprint(data["name"], len(data))', "name"],
  ["b.py", 'import json, sys\ndata = json.load(sys.stdin)\nfor key in data:\n    print(key, data.get("name"))', "name"],
  ["a.js", 'const { name } = JSON.parse(require("fs").readFileSync(0, "utf8"));\nconsole.log(name.length);', "name"],
] as const)("the JSON that %s reads from standard input is an object", async ([path, text, field], context) => {
  if (path.endsWith(".py")) needProgram(context, "python3");
  const tool = await toolOf(path, text);

  expect(tool?.inputSchema["properties"]).toHaveProperty(field);
  expect(tool?.inputSchema["properties"]).not.toHaveProperty("stdin");
});

test("JSON of which nothing is known is taken as a value, as a text, or as the whole input", async (context) => {
  needProgram(context, "python3");
  const tool = await toolOf("a.py", "import json, sys\nprint(type(json.load(sys.stdin)))");
  const stdinOf = (input: object): unknown => tool && toArgv(tool.mapping, input as Record<string, never>).stdin;

  expect(stdinOf({ stdin: [1] })).toBe("[1]");
  expect(stdinOf({ stdin: '{"a": 1}' })).toBe('{"a": 1}');
  expect(stdinOf({ a: 1 })).toBe('{"a":1}');
});

test("a declared file that may be a dash can be given as standard input", async (context) => {
  needProgram(context, "python3");
  const declare = (type: string): string =>
    `import argparse\np = argparse.ArgumentParser()\np.add_argument("source", type=argparse.FileType(${type}), default="-", nargs="?")\nprint(p.parse_args().source)`;

  const [read, written] = await Promise.all([toolOf("a.py", declare('"r"')), toolOf("a.py", declare('"w"'))]);

  expect(read?.inputSchema["properties"]).toHaveProperty("stdin");
  expect(written?.inputSchema["properties"]).not.toHaveProperty("stdin");
});

test.for([
  ["a bracket", "Usage: a.sh <file>   (- reads standard input)", ["file", "stdin"]],
  ["a choice", "Usage: a.sh <file|-> [count]", ["file", "count"]],
  ["words", "Usage: a.sh FILE|-\n# FILE  what to read, - for stdin", ["file", "stdin"]],
  ["a default", "Usage: a.sh <file> [count] (default 3)", ["file", "count"]],
] as const)("a usage line with %s gives the parameters that it has", async ([, usage, names]) => {
  const tool = await toolOf("a.sh", `#!/bin/bash\n# ${usage}\nuse "$1" "$2"\n`);

  const { properties = {} } = tool?.inputSchema ?? {};
  for (const name of names) expect(Object.keys(properties as object)).toContain(name);
  expect(Object.keys(properties as object).length).toBeLessThanOrEqual(3);
});
