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
