import { expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { cpuMsSince } from "../../../../test/support/cpu-time.ts";
import { deriveScripts } from "../derive-scripts.ts";
import type { DerivedScripts } from "../script-interface.ts";

const extract = `import argparse
p = argparse.ArgumentParser()
p.add_argument("file")
p.add_argument("--pages", type=int)
p.add_argument("--format", choices=["text", "json"])
p.parse_args()
`;

test("addExamples() takes calls in code blocks and between backticks as examples", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive(
    "Run `python scripts/extract.py a.pdf`:\n\n```bash\n# comment: scripts/extract.py x\npython3 {baseDir}/scripts/extract.py \\\n  --pages 2 b.pdf | head\n```\n",
  );

  expect(scripts[0]?.tools[0]?.examples).toEqual([
    { input: { file: "a.pdf" } },
    { input: { pages: 2, file: "b.pdf" } },
  ]);
});

test("addExamples() takes no example that is incomplete, has something to fill in, or stands in prose", async (context) => {
  needProgram(context, "python3");
  const text =
    "Run scripts/extract.py a.pdf now.\n`scripts/extract.py`\n`scripts/extract.py <file>`\n`scripts/extract.py $FILE`\n`cat scripts/extract.py`\n";

  const { scripts, diagnostics } = await derive(text);

  expect(scripts[0]?.tools[0]?.examples).toEqual([]);
  expect(diagnostics).toEqual([]);
});

test("addExamples() takes at most three, and none twice", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive(
    ["a", "a", "b", "c", "d"].map((name) => `\`scripts/extract.py ${name}\``).join("\n"),
  );

  expect(scripts[0]?.tools[0]?.examples.map(({ input }) => input["file"])).toEqual(["a", "b", "c"]);
});

test("addExamples() reports a flag that the script does not have, where it stands", async (context) => {
  needProgram(context, "python3");
  const { diagnostics } = await derive("---\nname: x\n---\n\n```\nscripts/extract.py a.pdf --page 2 --help\n```\n");

  expect(diagnostics).toEqual([
    {
      severity: "warning",
      code: "example-flag-unknown",
      message: 'The example calls scripts/extract.py with "--page", which the script does not seem to have',
      file: "SKILL.md",
      line: 6,
      cure: 'Did you mean "--pages"?',
    },
  ]);
});

test("addExamples() counts lines from where the text begins in its file", async (context) => {
  needProgram(context, "python3");
  const { diagnostics } = await deriveScripts([{ path: "scripts/extract.py", content: extract }], {
    instructions: { text: "`scripts/extract.py a --nope`", file: "skill.md", line: 9 },
  });

  expect(diagnostics[0]).toMatchObject({ file: "skill.md", line: 9, cure: "Its flags are: --pages, --format" });
});

test("addExamples() gives each sub-command its own examples", async () => {
  const content =
    "#!/bin/bash\n# Usage: box.sh add <id> [--force]\n# Usage: box.sh list [limit]\ncase $1 in add) ;; list) ;; esac\n";

  const { scripts } = await deriveScripts([{ path: "scripts/box.sh", content }], {
    instructions: { text: "`scripts/box.sh list 5` `bash scripts/box.sh add x --force`" },
  });

  expect(scripts[0]?.tools.map(({ name, examples }) => [name, examples.map(({ input }) => input)])).toEqual([
    ["box-add", [{ id: "x", force: true }]],
    ["box-list", [{ limit: "5" }]],
  ]);
});

test("addExamples() takes bounded time for hostile instructions", async () => {
  const started = process.cpuUsage();

  for (const piece of ["`", "```\n", "scripts/extract.py ", "`scripts/extract.py --x`", "\\\n", '"', "/a"])
    await derive(piece.repeat(Math.floor(200_000 / piece.length)));

  expect(cpuMsSince(started)).toBeLessThan(15_000);
});

function derive(text: string): Promise<DerivedScripts> {
  return deriveScripts([{ path: "scripts/extract.py", content: extract }], { instructions: { text } });
}

test("addExamples() never makes a tool useless: what does not fit is no example, and corrects what was guessed", async () => {
  const script = ["#!/bin/bash", "# Usage: speed.sh <n> [label]", 'echo "$1" "$2"'].join("\n");
  const { scripts } = await deriveScripts([{ path: "scripts/speed.sh", content: script }], {
    instructions: { text: "```bash\nbash scripts/speed.sh 0.5 slow\nbash scripts/speed.sh RATE fast\n```\n" },
  });
  const [tool] = scripts[0]?.tools ?? [];

  expect(tool?.inputSchema["properties"]).toMatchObject({ n: { type: "number" } });
  expect(tool?.examples).toEqual([{ input: { n: 0.5, label: "slow" } }]);
});

test("addExamples() adds flags that the instructions show and the script has", async () => {
  const script = [
    "// Manages cases.",
    "const options = {};",
    "for (const word of process.argv.slice(3)) {",
    '  if (!word.startsWith("--")) continue;',
    '  const [key, value = "true"] = word.slice(2).split("=");',
    "  options[key] = value;",
    "}",
    'if (process.argv[2] === "create") console.log(JSON.stringify(options));',
  ].join("\n");
  const text = "Run `node scripts/cases.js create --title=Leak --severity=high` to open a case.\n";
  const { scripts, diagnostics } = await deriveScripts([{ path: "scripts/cases.js", content: script }], {
    instructions: { text },
  });
  const tool = scripts[0]?.tools[0];

  expect(Object.keys(tool?.inputSchema["properties"] as object)).toEqual(expect.arrayContaining(["title", "severity"]));
  expect(tool?.examples.map(({ input }) => input)).toEqual([
    expect.objectContaining({ title: "Leak", severity: "high" }),
  ]);
  expect(diagnostics).toEqual([]);
});

test.for([
  ["- `scripts/x.sh`: Prints the weather of a town", "Prints the weather of a town"],
  ["| Script | What |\n|---|---|\n| `scripts/x.sh` | Prints the **weather** |", "Prints the weather"],
  ["Run `scripts/x.sh` to print the weather of a town.", "Print the weather of a town."],
  ["```bash\n# Print the weather\nscripts/x.sh\n```", "Print the weather"],
  ["```bash\nscripts/x.sh Rome   # Weather of one town\n```", "Weather of one town"],
  ["To print the weather of a town:\n\n```bash\nscripts/x.sh\n```", "To print the weather of a town"],
  ["## Print the weather\n\n```bash\nscripts/x.sh\n```", "Print the weather"],
  ["## Usage\n\n```bash\nscripts/x.sh\n```", "Run scripts/x.sh"],
  ["Nothing about it.", "Run scripts/x.sh"],
])("a script that says nothing about itself has the words of SKILL.md: %j", async ([text = "", description]) => {
  const { scripts } = await deriveScripts([{ path: "scripts/x.sh", content: "echo $1\n" }], { instructions: { text } });

  expect(scripts[0]?.tools[0]?.description).toBe(description);
});
