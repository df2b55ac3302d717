import { symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import type { NodeRequest, PythonRequest } from "./dependency-request.ts";
import { loadDependencyRequest } from "./load-dependency-request.ts";
import { renderRequirement } from "./python/parse-requirement.ts";

const python = "/usr/bin/python3";
const block = '# /// script\n# requires-python = ">=3.8"\n# dependencies = ["inline"]\n# ///\n';

test("loadDependencyRequest() takes the block of a script before files, and what the manifest lists with it", () => {
  const text = `${block}import listed\n`;
  const directory = createFolder({ "scripts/a.py": text, "requirements.txt": "from-file" });

  const request = loadDependencyRequest({
    directory,
    path: "scripts/a.py",
    python,
    dependencies: { python: ["listed"] },
  });

  expect(names(request)).toEqual(["inline", "listed"]);
  expect(request).toMatchObject({ language: "python", python, requiresPython: ">=3.8" });
});

test("loadDependencyRequest() takes the nearest file above a script", () => {
  const directory = createFolder({
    "scripts/deep/a.py": "import near",
    "scripts/requirements.txt": "near\n-c ../limits.txt",
    "limits.txt": "near<2",
    "requirements.txt": "far",
  });

  const request = loadDependencyRequest({ directory, path: "scripts/deep/a.py", python }) as PythonRequest;

  expect(names(request)).toEqual(["near"]);
  expect(request.constraints.map(renderRequirement)).toEqual(["near<2"]);
});

test("loadDependencyRequest() reads pyproject.toml", () => {
  const directory = createFolder({ "a.py": "import one", "pyproject.toml": '[project]\ndependencies = ["one>=1"]\n' });

  expect(names(loadDependencyRequest({ directory, path: "a.py", python }))).toEqual(["one>=1"]);
});

test("loadDependencyRequest() reads package.json for scripts that Node runs", () => {
  const directory = createFolder({
    "scripts/a.ts": 'import left from "left/part";',
    "package.json": '{"dependencies":{"left":"^1","right":"1"}}',
    "requirements.txt": "not-for-node",
  });

  const request = loadDependencyRequest({ directory, path: "scripts/a.ts", dependencies: { npm: ["right@2"] } });

  expect(request).toEqual({ language: "node", packages: { left: "^1", right: "2" }, imported: ["left"] });
});

test("loadDependencyRequest() finds nothing where nothing is asked for", () => {
  const directory = createFolder({ "a.py": "import os\n" });

  expect(loadDependencyRequest({ directory, path: "a.py", python })).toMatchObject({
    requirements: [],
    constraints: [],
  });
  expect(loadDependencyRequest({ directory, path: "a.js" })).toEqual({ language: "node", packages: {} });
});

const listed = {
  "requirements.txt": "pandas\npython-docx\ngoogle-genai\nopenpyxl\n",
  "package.json": npm("left", "right"),
};

test.for<readonly [name: string, script: string, expected: readonly string[] | "none"]>([
  ["nothing", "import os, json; import re\n", "none"],
  ["a comment of no package", "# from here on\nimport os\n", "none"],
  ["a module of its own", "from helpers import one\n", "none"],
  ["a module of its own that imports a package", "import scripts.more\n", ["pandas"]],
  ["a part of a package of its own", "from .parts import table\n", ["pandas"]],
  ["a package by another name", "import docx as word\n", ["python-docx"]],
  ["one of many names", "import os, sys, pandas as pd\n", ["pandas"]],
  ["a name that packages share", "from google import genai\n", ["google-genai"]],
  ["in a function, if it is there", "def f():\n  try: import openpyxl\n  except ImportError: pass\n", ["openpyxl"]],
  ["a package that is not listed", "import numpy\n", []],
  ["what its text does not name", "import importlib\nimportlib.import_module(x)\n", []],
  ["a program", "import subprocess\n", []],
])("loadDependencyRequest() finds what a Python script imports: %s", ([, script, expected]) => {
  const directory = createFolder({
    ...listed,
    "scripts/a.py": script,
    "scripts/helpers.py": "import json\nfrom helpers import two\n",
    "scripts/more.py": "import pandas\n",
    "scripts/parts/__init__.py": "",
    "scripts/parts/table.py": "from ..more import x\n",
  });

  const request = loadDependencyRequest({ directory, path: "scripts/a.py", python }) as PythonRequest;

  expect(request.imported).toEqual(expected === "none" ? [] : expected);
  expect(names(request)).toHaveLength(expected === "none" ? 0 : 4);
});

test.for<readonly [name: string, script: string, expected: readonly string[] | "none"]>([
  ["nothing", 'import { readFile } from "node:fs";\nimport path from "path";\n', "none"],
  ["a file of its own", 'import { x } from "./own.js";\n', "none"],
  ["a file of its own that imports a package", 'require("../lib/more");\n', ["left"]],
  ["a part of a package", 'export { y } from "right/deep";\n', ["right"]],
  ["a package that is not listed", 'import z from "other";\n', []],
  ["what its text does not name", "const z = require(process.argv[2]);\n", []],
  ["a program", 'import { spawn } from "node:child_process";\n', []],
])("loadDependencyRequest() finds what a script of Node imports: %s", ([, script, expected]) => {
  const directory = createFolder({
    ...listed,
    "scripts/a.ts": script,
    "scripts/own.ts": 'import "./a.js";\n',
    "lib/more/index.js": 'import("left");\n',
  });

  const request = loadDependencyRequest({ directory, path: "scripts/a.ts" }) as NodeRequest;

  expect(request.imported ?? []).toEqual(expected === "none" ? [] : expected);
  expect(Object.keys(request.packages)).toHaveLength(expected === "none" ? 0 : 2);
});

test("loadDependencyRequest() takes a script of very many files to import anything", () => {
  const files = Array.from({ length: 210 }, (_, index) => [`m${index}.py`, `import m${index + 1}\n`] as const);
  const directory = createFolder({ ...listed, ...Object.fromEntries(files) });

  const request = loadDependencyRequest({ directory, path: "m0.py", python }) as PythonRequest;

  expect(names(request)).toHaveLength(4);
});

function npm(...packages: readonly string[]): string {
  return JSON.stringify({ dependencies: Object.fromEntries(packages.map((name) => [name, "1"])) });
}

test("loadDependencyRequest() never reads a file outside of the folder", () => {
  const outside = createFolder({ "requirements.txt": "secret", "deep/requirements.txt": "secret" });
  const directory = createFolder({ "a.py": "" });
  symlinkSync(join(outside, "requirements.txt"), join(directory, "requirements.txt"));
  symlinkSync(join(outside, "deep"), join(directory, "scripts"));

  expect(names(loadDependencyRequest({ directory, path: "a.py", python }))).toEqual([]);
  expect(names(loadDependencyRequest({ directory, path: "scripts/a.py", python }))).toEqual([]);
});

test("loadDependencyRequest() refuses files that are too large or broken", () => {
  const large = createFolder({ "a.py": "", "requirements.txt": "#".repeat(1024 * 1024 + 1) });
  const broken = createFolder({ "a.py": "import one", "pyproject.toml": "[" });

  expect(() => loadDependencyRequest({ directory: large, path: "a.py", python })).toThrow("larger than");
  expect(() => loadDependencyRequest({ directory: broken, path: "a.py", python })).toThrow("not TOML");
});

function names(request: unknown): readonly string[] {
  return (request as PythonRequest).requirements.map(renderRequirement);
}
