import { expect, test } from "vitest";

import { cpuMsSince } from "../../../test/support/cpu-time.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { deriveAllScripts, deriveScripts, type DeriveScriptsOptions } from "./derive-scripts.ts";
import type { DerivedScripts } from "./script-interface.ts";

test("AC-1: scripts become tools, and other files are ignored", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await derive({
    "scripts/tool1.py": "print(1)\n",
    "scripts/tool2.sh": "echo 1\n",
    "scripts/helper.txt": "not a script\n",
    "SKILL.md": "---\nname: my-skill\n---\n",
  });

  expect(scripts.map(({ tools }) => tools.map(({ name }) => name))).toEqual([["tool1"], ["tool2"]]);
  expect(diagnostics).toEqual([]);
});

test("AC-2: the description comes from the docstring of main", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive({
    "scripts/process.py": 'def main(input_path: str):\n    """Process a file and return results."""\n    ...\n',
  });

  expect(scripts[0]?.tools[0]?.description).toBe("Process a file and return results.");
});

test("deriveScripts() finds nothing in a skill without scripts", async () => {
  expect(await deriveScripts([])).toEqual({ scripts: [], diagnostics: [] });
  expect(await derive({ "tool.py": "print(1)\n", "references/x.py": "print(1)\n" })).toEqual({
    scripts: [],
    diagnostics: [],
  });
});

test("deriveScripts() makes no tools of files in folders below, and says why", async () => {
  const { scripts } = await derive({
    "scripts/run.py": "print(1)\n",
    "scripts/utils/run.py": "print(1)\n",
    "scripts/.hidden.py": "print(1)\n",
  });

  expect(scripts.map(({ path, kind, reason }) => [path, kind, reason])).toEqual([
    ["scripts/run.py", "tool", "it runs by itself"],
    [
      "scripts/utils/run.py",
      "library",
      "it is in a folder below scripts/, and SKILL.md does not tell the model to run it",
    ],
  ]);
});

test("deriveScripts() keeps both of two scripts with one name, and says which is called what", async () => {
  const { scripts, diagnostics } = await derive({
    "scripts/query.ps1": "param()\n",
    "scripts/query.sh": "echo\n",
    "scripts/a b.sh": "echo\n",
    "scripts/a-b.sh": "echo\n",
  });

  expect(scripts.flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(["a-b", "a-b-sh", "query", "query-sh"]);
  expect(diagnostics).toEqual([
    {
      severity: "warning",
      code: "tool-name-collision",
      message:
        'Two tools would be called "a-b", from "scripts/a b.sh" and from "scripts/a-b.sh": the second is called "a-b-sh"',
      file: "scripts/a-b.sh",
      cure: "Rename one of the files, or give a name in scripts/manifest.yml",
    },
    expect.objectContaining({ code: "tool-name-collision", file: "scripts/query.sh" }),
  ]);
});

test("deriveScripts() leaves an author's name to the tool that it was given to", async () => {
  const { scripts } = await derive({
    "scripts/a.sh": "echo\n",
    "scripts/b.sh": "echo\n",
    "scripts/manifest.yml": "tools:\n - { script: b.sh, name: a }\n",
  });

  expect(scripts.map(({ tools }) => tools[0]?.name)).toEqual(["a-sh", "a"]);
});

test("deriveScripts() tells environment, packages and what a script touches", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive({
    "scripts/fetch.py":
      'import os, requests, helpers\nkey = os.environ["API_KEY"]\nrequests.get("https://api.example.com/v1")\nprint(key)\n',
    "scripts/helpers.py": "def f(): pass\n",
    "requirements.txt": "requests>=2\n",
  });

  expect(scripts[0]).toMatchObject({
    environment: [{ name: "API_KEY", required: true }],
    imports: [{ name: "requests", package: "requests", declaredIn: "requirements.txt" }],
    access: { hosts: ["api.example.com"], network: ["requests"] },
  });
});

test("deriveScripts() reads Python by its usage text where there is no Python, and says so once", async () => {
  const files = {
    "scripts/a.py":
      '"""Extract text.\n\nUsage: a.py <file> [--pages N]\n"""\nimport argparse\nif __name__ == "__main__":\n    main()\n',
    "scripts/b.py": "import sys\nprint(sys.argv[1])\n",
    "scripts/lib.py": "def f(): pass\n",
  };

  const { scripts, diagnostics } = await derive(files, { python: ["no-such-python-here"] });

  expect(
    scripts.map(({ kind, tools }) => [
      kind,
      tools[0]?.confidence,
      tools[0]?.description,
      Object.keys(tools[0]?.inputSchema["properties"] ?? {}),
    ]),
  ).toEqual([
    ["tool", "usage", "Extract text.", ["pages", "file"]],
    ["tool", "usage", "Run scripts/b.py", ["arg1"]],
    ["library", undefined, undefined, []],
  ]);
  expect(diagnostics).toEqual([
    {
      severity: "info",
      code: "python-missing",
      message:
        'Cannot parse "scripts/a.py": there is no Python to parse it with (spawn no-such-python-here ENOENT) (and 2 more like it); only its usage text and its plainest code were read',
      file: "scripts/a.py",
      cure: "Install python3, or describe the script in scripts/manifest.yml",
    },
  ]);
});

test("deriveScripts() reads what it can of Python that cannot be parsed", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await derive({
    "scripts/old.py": '"""Usage: old.py <file>"""\nimport sys\nprint "x", sys.argv[1]\n',
  });

  expect(scripts[0]?.tools[0]).toMatchObject({ confidence: "usage", inputSchema: { required: ["file"] } });
  expect(diagnostics).toMatchObject([{ severity: "warning", code: "script-syntax", file: "scripts/old.py", line: 3 }]);
});

test("deriveScripts() reports files that are not text, not UTF-8, or too large", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await deriveScripts([
    { path: "scripts/binary.py", content: Buffer.from("print(1)\0\0") },
    { path: "scripts/latin.py", content: Buffer.from([...Buffer.from("print('"), 0xe9, ...Buffer.from("')\n")]) },
    { path: "scripts/large.py", content: Buffer.alloc(10 * 1024 * 1024, "x = 1\n") },
    { path: "scripts/large-too.sh", content: Buffer.alloc(10 * 1024 * 1024, "echo\n") },
  ]);

  expect(scripts.map(({ path, kind, tools }) => [path, kind, tools[0]?.confidence])).toEqual([
    ["scripts/binary.py", "unsupported", undefined],
    ["scripts/large-too.sh", "tool", "opaque"],
    ["scripts/large.py", "tool", "opaque"],
    ["scripts/latin.py", "tool", "declared"],
  ]);
  expect(diagnostics.map(({ code, file }) => [code, file])).toEqual([
    ["script-not-text", "scripts/binary.py"],
    ["script-too-large", "scripts/large-too.sh"],
    ["script-too-large", "scripts/large.py"],
    ["encoding-invalid", "scripts/latin.py"],
  ]);
});

test("deriveScripts() never throws and takes bounded time, whatever a script holds", async () => {
  const endings = ["py", "js", "ts", "sh", "rb", "pl", "php", "lua", "ps1", "R"];
  const bodies = [
    "",
    "\n",
    "(",
    "{",
    "'",
    '"""',
    "`${",
    "$(",
    "case $1 in ",
    "--x|",
    "Usage: ",
    "# Usage: x <a> [b]\n",
    "process.argv[2];",
    "sys.argv[1]\n",
    "\\",
    "é",
    "\u2028",
    "=> ",
    "__proto__",
    "import argparse\n",
  ];
  const files = endings.flatMap((ending) =>
    bodies.map((body, index) => ({
      path: `scripts/f${index}.${ending}`,
      content: body.repeat(body === "" ? 1 : Math.floor(60_000 / body.length)),
    })),
  );
  const started = performance.now();

  const { scripts } = await deriveScripts(files);

  expect(scripts).toHaveLength(files.length);
  expect(performance.now() - started).toBeLessThan(60_000);
});

test.for([
  ["c.js", "const yargs = require('yargs');\nyargs", ".option('a',"],
  ["c.mjs", "import { program } from 'commander';\nprogram", ".option('-a',"],
  ["c.cjs", "const { program } = require('commander');\nprogram", ".addOption(new Option('-a',"],
] as const)(
  "deriveScripts() ends reading %s when its budget is spent, and keeps it as a tool",
  async ([name, head, part]) => {
    const path = `scripts/${name}`;
    const files = { [path]: head + part.repeat(1000), "scripts/good.sh": "# Usage: good.sh <file>\ncat $1\n" };

    const { scripts, diagnostics } = await derive(files, { maxNodes: 1000 });

    expect(scripts.map((script) => [script.path, script.kind, script.tools[0]?.confidence])).toEqual([
      [path, "tool", "opaque"],
      ["scripts/good.sh", "tool", "usage"],
    ]);
    expect(diagnostics).toEqual([
      {
        severity: "warning",
        code: "script-too-long",
        // Time and memory are both bounded; which is spent first depends on what was read before.
        message: expect.stringMatching(
          /^Skipped what "scripts\/c\.\w+" says about its arguments, because its text takes too (?:long|much memory) to read$/u,
        ),
        file: path,
        cure: "Describe it in scripts/manifest.yml",
      },
    ]);
  },
);

test("deriveScripts() reads a script with very many options that nothing closes in bounded time", async () => {
  const text = `require 'optparse'\nOptionParser.new do |o|\n${"o.on('-a',".repeat(5000)}`;
  const started = process.cpuUsage();

  const { scripts } = await derive({ "scripts/c.rb": text });

  expect(scripts[0]?.kind).toBe("tool");
  expect(cpuMsSince(started)).toBeLessThan(10_000);
});

test("deriveScripts() reads a script with many options of one name within its budget", async () => {
  const text = `require 'optparse'\nOptionParser.new do |o|\n${"o.on('-a')\n".repeat(5000)}end`;

  const { scripts, diagnostics } = await derive({ "scripts/c.rb": text }, {});

  expect(diagnostics).toEqual([]);
  expect(Object.keys(scripts[0]?.tools[0]?.inputSchema["properties"] ?? {}).at(-1)).toBe("a_5000");
});

test("deriveScripts() lets other work go on between the scripts of one skill", async () => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`scripts/${index}.sh`, "echo\n"]));
  let timeMs = 0;
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    pending = setImmediate(turn);
  };
  let pending = setImmediate(turn);

  await derive(files, { now: () => (timeMs += 100) });
  clearImmediate(pending);

  expect(turns).toBeGreaterThan(15);
});

test("deriveScripts() gives plain JSON, so that it can be kept", async () => {
  const derived = await derive({
    "scripts/a.py":
      "import argparse\np = argparse.ArgumentParser()\np.add_argument('--x', default=None)\np.parse_args()\n",
    "scripts/b.sh": 'X="${1:-}"\n',
  });

  expect(JSON.parse(JSON.stringify(derived))).toEqual(derived);
});

test("deriveScripts() takes a parameter called like a part of every object for what it is", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive({
    "scripts/a.py":
      "import argparse\np = argparse.ArgumentParser()\np.add_argument('--__proto__')\np.add_argument('--constructor')\np.add_argument('--toString')\np.parse_args()\n",
  });

  expect(Object.keys(scripts[0]?.tools[0]?.inputSchema["properties"] ?? {})).toEqual([
    "proto",
    "constructor_value",
    "toString",
  ]);
});

test("deriveScripts() describes a script in the words of a text that SKILL.md names, whatever its case", async () => {
  const { scripts } = await deriveScripts(
    [
      { path: "scripts/boxes.sh", content: 'echo "$1"\n' },
      {
        path: "forms.md",
        content: "Before filling, check the boxes for errors:\n`bash scripts/boxes.sh fields.json`\n",
      },
    ],
    { instructions: { text: "To fill in a form, read FORMS.md.\n", file: "SKILL.md" } },
  );

  expect(scripts[0]?.tools[0]?.description).toBe("Before filling, check the boxes for errors");
});

test("deriveAllScripts() answers in the order of the skills, with one helper for all", async () => {
  const skills = Array.from({ length: 30 }, (_, index) => ({
    files: [{ path: "scripts/a.py", content: `"""Skill ${index}."""\nprint(1)\n` }],
  }));

  const derived = await deriveAllScripts(skills);

  expect(derived.map(({ scripts }) => scripts[0]?.tools[0]?.description)).toEqual(
    skills.map((_, index) => `Skill ${index}.`),
  );
});

function derive(files: Readonly<Record<string, string>>, options: DeriveScriptsOptions = {}): Promise<DerivedScripts> {
  return deriveScripts(
    Object.entries(files).map(([path, content]) => ({ path, content })),
    options,
  );
}
