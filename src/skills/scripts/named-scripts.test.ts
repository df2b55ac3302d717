import { expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { deriveScripts } from "./derive-scripts.ts";
import { freezeManifest } from "./manifest/freeze-manifest.ts";
import { findNamedScripts } from "./named-scripts.ts";

const files = [
  "SKILL.md",
  "search.js",
  "bin/tool",
  "ooxml/scripts/unpack.py",
  "scripts/main.ts",
  "scripts/office/pack.py",
];

const named: readonly (readonly [text: string, found: readonly string[]])[] = [
  ["```bash\npython scripts/office/pack.py in out\n```", ["scripts/office/pack.py"]],
  ['```bash\n{baseDir}/search.js "query"\n```', ["search.js"]],
  ["```bash\n./search.js\n```", ["search.js"]],
  ["```sh\ncd {baseDir} && ./bin/tool --fast\n```", ["bin/tool"]],
  ["Then `node ${CLAUDE_SKILL_DIR}/search.js x` prints it.", ["search.js"]],
  ["`python ~/.claude/skills/docx/ooxml/scripts/unpack.py a`", ["ooxml/scripts/unpack.py"]],
  ["`uv run --with lxml python skills/docx/ooxml/scripts/unpack.py <file>`", ["ooxml/scripts/unpack.py"]],
  ["`python path/to/skill/ooxml/scripts/unpack.py <file>`", ["ooxml/scripts/unpack.py"]],
  ["```\n${BUN_X} {baseDir}/scripts/main.ts --image x.png\n```", ["scripts/main.ts"]],
  ["```bash\npython -m scripts.office.pack dir\n```", ["scripts/office/pack.py"]],
  ["```bash\npython \\\n  ooxml/scripts/unpack.py\n```", ["ooxml/scripts/unpack.py"]],
  ["Run `bin/tool`.", ["bin/tool"]],
  ["Execute [the search](search.js) first.", ["search.js"]],
  // A path that only stands in the text is no command.
  ["See `ooxml/scripts/unpack.py` and [it](search.js).", []],
  ["Run the tests. The source is `search.js`.", []],
  ["```\n├── search.js\n# python search.js\n```", []],
  ["```bash\ncat bin/tool\nchmod +x search.js\ngit add bin/tool\n```", []],
  ["`python other.py search.js`", []],
  ["`python -c 'open(\"search.js\")'`", []],
  ["`node ../search.js`", []],
];

test.for(named)("findNamedScripts() reads what is to be run: %j", ([text, found]) => {
  expect([...findNamedScripts(text, files).found]).toEqual(found);
});

test("findNamedScripts() tells what the text says is in the skill's folder and is not", () => {
  const text =
    "# A\n\n```bash\npython scripts/gone.py x\nnode {baseDir}/lost.js\npython src/train.py\nnpm run build\n```\n`scripts/gone.py`";

  expect(findNamedScripts(text, files).missing).toEqual([
    { path: "scripts/gone.py", line: 4 },
    { path: "lost.js", line: 5 },
  ]);
});

test("findNamedScripts() reads hostile text in time", () => {
  const text = [
    "`".repeat(100_000),
    `run ${"a/".repeat(100_000)}`,
    `\`${"./x ".repeat(200)}\``.repeat(500),
    "](".repeat(50_000),
    "run ".repeat(50_000) + "`search.js`",
  ].join("\n");

  expect([...findNamedScripts(text, files).found]).toEqual([]);
});

test("deriveScripts() makes tools of scripts that the instructions tell to run, wherever they are", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await deriveScripts(
    [
      { path: "scripts/office/unpack.py", content: unpack },
      { path: "scripts/office/helpers/xml.py", content: "import sys\n\nprint(sys.argv)\n" },
      { path: "scripts/search.js", content: "console.log(process.argv[2]);\n" },
      { path: "search.js", content: "#!/usr/bin/env node\nconsole.log(process.argv[2]);\n" },
      { path: "bin/count", content: '#!/bin/bash\necho "$1"\n' },
      { path: "other/run.py", content: "print(1)\n" },
      { path: "tools/pack.py", content: "print(1)\n" },
      { path: "editing.md", content: "Then run `python tools/pack.py`." },
      { path: "unread.md", content: "Then run `python other/run.py`." },
    ],
    {
      instructions: {
        text: "```bash\npython scripts/office/unpack.py in.docx out\n./search.js x\nbin/count 3\npython scripts/lost.py\n```\nSee [editing](editing.md).",
        line: 5,
      },
    },
  );

  expect(scripts.map(({ path, kind, tools }) => [path, kind, tools.map(({ name }) => name)])).toEqual([
    ["bin/count", "tool", ["bin-count"]],
    ["scripts/office/helpers/xml.py", "library", []],
    ["scripts/office/unpack.py", "tool", ["office-unpack"]],
    ["scripts/search.js", "tool", ["search"]],
    ["search.js", "tool", ["search-js"]],
    ["tools/pack.py", "tool", ["tools-pack"]],
  ]);
  const office = scripts.find(({ path }) => path === "scripts/office/unpack.py");
  expect(office?.tools[0]).toMatchObject({
    description: "Unpack an Office file.",
    confidence: "declared",
    inputSchema: { required: ["input_file", "output_directory"] },
    examples: [{ input: { input_file: "in.docx", output_directory: "out" } }],
  });
  expect(office?.imports.filter(({ declaredIn }) => declaredIn === undefined)).toEqual([]);
  expect(diagnostics.filter(({ code }) => code === "script-missing")).toEqual([
    {
      severity: "error",
      code: "script-missing",
      message: 'Tells the model to run "scripts/lost.py", which is not in the skill\'s folder',
      file: "SKILL.md",
      line: 9,
      cure: "put the file there, or take the command out of the text",
    },
  ]);
});

test("freezeManifest() writes scripts outside scripts/ so that they are read again", async () => {
  const skill = [
    { path: "search.sh", content: '#!/bin/bash\necho "$1"\n' },
    { path: "scripts/search.sh", content: '#!/bin/bash\necho "$1"\n' },
  ];
  const { scripts } = await deriveScripts(skill, { instructions: { text: "`bash search.sh x`" } });

  const frozen = [...skill, { path: "scripts/manifest.yml", content: freezeManifest(scripts) }];
  const again = await deriveScripts(frozen);

  expect(again.diagnostics).toEqual([]);
  expect(again.scripts.map(({ path, tools }) => [path, tools.map(({ name }) => name)])).toEqual([
    ["scripts/search.sh", ["search"]],
    ["search.sh", ["search-sh"]],
  ]);
});

const unpack = `"""Unpack an Office file."""
import argparse

from helpers import xml


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input_file")
    parser.add_argument("output_directory")
    parser.parse_args()


if __name__ == "__main__":
    main()
`;
