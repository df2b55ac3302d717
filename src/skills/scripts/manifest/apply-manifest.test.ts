import { expect, test } from "vitest";

import { needProgram } from "../../../../test/support/need-program.ts";
import { deriveScripts } from "../derive-scripts.ts";
import type { DerivedScripts, ScriptTool } from "../script-interface.ts";
import { toArgv } from "../to-argv.ts";

const argparse = `"""Extract text."""
import argparse
p = argparse.ArgumentParser()
p.add_argument("file", help="The file")
p.add_argument("--pages", type=int, default=1)
p.parse_args()
`;

test("a manifest without parameters changes only what it says", async (context) => {
  needProgram(context, "python3");
  const { scripts } = await derive(
    { "extract.py": argparse },
    "tools:\n - { script: extract.py, name: read_pdf, timeout: 5, annotations: { readOnly: true } }\n",
  );

  expect(scripts[0]?.tools[0]).toMatchObject({
    name: "read_pdf",
    description: "Extract text.",
    limits: { limitMs: 5000 },
    annotations: { readOnly: true },
    confidence: "declared",
    source: "argparse",
    inputSchema: {
      properties: { pages: { type: "integer", default: 1 }, file: { description: "The file" } },
      required: ["file"],
    },
  });
});

test("a manifest's parameter without a way to be passed refines the script's own of that name", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await derive(
    { "extract.py": argparse },
    "tools:\n - script: extract.py\n   parameters:\n    - { name: File, description: A PDF }\n    - { name: pages, maximum: 9 }\n",
  );

  const tool = scripts[0]?.tools[0] as ScriptTool;
  expect(diagnostics).toEqual([]);
  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: { File: { type: "string", description: "A PDF" }, pages: { type: "integer", default: 1, maximum: 9 } },
    required: ["File"],
    additionalProperties: false,
  });
  expect(toArgv(tool.mapping, { File: "-a", pages: 2 }).argv).toEqual(["--", "-a", "--pages", "2"]);
});

test("a manifest's parameter that the script does not have must say how it is passed", async (context) => {
  needProgram(context, "python3");
  const { diagnostics } = await derive(
    { "extract.py": argparse },
    "tools:\n - script: extract.py\n   parameters:\n    - name: page\n",
  );

  expect(diagnostics).toEqual([
    {
      severity: "error",
      code: "parameter-unmapped",
      message: 'Cannot pass the parameter "page": the script has none of this name, and the manifest does not say how',
      file: "scripts/manifest.yml",
      line: 4,
      cure: 'Did you mean "pages"? Or add flag: --name, positional: true',
    },
  ]);
});

test("a manifest's parameters are positionals, in order, for a script of which nothing else is known", async () => {
  const { scripts } = await derive(
    { "run.sh": 'exec other "$@"\n' },
    "tools:\n - script: run.sh\n   parameters:\n    - { name: input_path, type: string, required: true }\n    - { name: output_path, type: string }\n",
  );

  const tool = scripts[0]?.tools[0] as ScriptTool;
  expect(toArgv(tool.mapping, { input_path: "a", output_path: "b" }).argv).toEqual(["a", "b"]);
  expect(tool).toMatchObject({ confidence: "declared", source: "manifest" });
});

test("a manifest gives names to places that have none", async () => {
  const { scripts } = await derive(
    { "greet.py": 'import sys\nprint("Hello", sys.argv[1])\n' },
    "tools:\n - script: greet.py\n   parameters:\n    - { name: who, description: Whom to greet }\n",
  );

  expect(scripts[0]?.tools[0]?.inputSchema).toEqual({
    type: "object",
    properties: { who: { type: "string", description: "Whom to greet" } },
    required: ["who"],
    additionalProperties: false,
  });
});

test("a manifest makes a tool of a library, of a file below, and of one in a language nobody knows", async () => {
  const files = {
    "lib.py": "def f(): pass\n",
    "deep/run.sh": "#!/bin/bash\necho $1\n",
    "Tool.swift": "print(1)\n",
    "data.xyz": "x",
  };

  const { scripts } = await derive(
    files,
    "tools:\n - script: lib.py\n - script: deep/run.sh\n - { script: Tool.swift, interpreter: [swift] }\n - { script: data.xyz, interpreter: frobnicate }\n",
  );

  expect(
    scripts.map(({ path, kind, interpreter, tools }) => [
      path,
      kind,
      interpreter.join(" "),
      tools.map(({ name }) => name),
    ]),
  ).toEqual([
    ["scripts/Tool.swift", "tool", "swift", ["Tool"]],
    ["scripts/data.xyz", "tool", "frobnicate", ["data"]],
    ["scripts/deep/run.sh", "tool", "bash", ["deep-run"]],
    ["scripts/lib.py", "tool", "python3", ["lib"]],
  ]);
});

test("a manifest's entry for one sub-command leaves the others as they are; one for none replaces all", async () => {
  const box = "#!/bin/bash\n# Usage: box.sh add <id>\n# Usage: box.sh list\ncase $1 in add) ;; list) ;; esac\n";

  const one = await derive({ "box.sh": box }, "tools:\n - { script: box.sh, command: add, name: put, hidden: true }\n");
  const all = await derive({ "box.sh": box }, "tools:\n - { script: box.sh, name: box }\n");

  expect(one.scripts[0]?.tools.map(({ name, hidden }) => [name, hidden])).toEqual([
    ["put", true],
    ["box-list", undefined],
  ]);
  expect(all.scripts[0]?.tools.map(({ name, confidence }) => [name, confidence])).toEqual([["box", "opaque"]]);
});

test("a manifest passes parameters by environment, standard input, words and counts", async () => {
  const manifest = `tools:
  - script: run.sh
    separator: needed
    parameters:
      - { name: token, env: API_TOKEN }
      - { name: text, stdin: text }
      - { name: loud, type: boolean, words: { true: [--loud, --very], false: --quiet } }
      - { name: level, type: integer, count: -v }
      - { name: names, type: array, items: { type: string }, flag: --name, list: repeat, joint: "=" }
      - { name: files, type: array, items: { type: string }, positional: true, many: true }
`;

  const { scripts, diagnostics } = await derive({ "run.sh": "echo\n" }, manifest);

  const tool = scripts[0]?.tools[0] as ScriptTool;
  expect(diagnostics).toEqual([]);
  expect(
    toArgv(tool.mapping, { token: "t", text: "x", loud: true, level: 2, names: ["a", "-b"], files: ["-f"] }),
  ).toEqual({
    argv: ["--loud", "--very", "-v", "-v", "--name", "a", "--name=-b", "--", "-f"],
    env: { API_TOKEN: "t" },
    stdin: "x",
  });
});

test("a manifest with a broken entry keeps the others", async (context) => {
  needProgram(context, "python3");
  const { scripts, diagnostics } = await derive(
    { "extract.py": argparse },
    "tools:\n - script: ../x\n - { script: extract.py, name: good }\n",
  );

  expect(scripts[0]?.tools[0]?.name).toBe("good");
  expect(diagnostics.map(({ code }) => code)).toEqual(["manifest-script-missing"]);
});

function derive(files: Readonly<Record<string, string>>, manifest: string): Promise<DerivedScripts> {
  const scripts = Object.entries(files).map(([name, content]) => ({ path: `scripts/${name}`, content }));
  return deriveScripts([...scripts, { path: "scripts/manifest.yml", content: manifest }]);
}
