import { expect, test } from "vitest";

import { readDeclaredPackages, type TextFile } from "./declared-packages.ts";
import { findImports, inlinePackages, type ImportSources } from "./imports.ts";

test("findImports() finds foreign packages of Python, under the names they are installed by", () => {
  const imports = findImports(
    python("", ["os", "json", "requests", "yaml", "PIL", "helpers", ".sibling", "_private"], { local: ["helpers"] }),
  );

  expect(imports).toEqual([
    { name: "PIL", package: "pillow" },
    { name: "requests", package: "requests" },
    { name: "yaml", package: "pyyaml" },
  ]);
});

test("findImports() says where a package is declared: in the script, in requirements, in a project", () => {
  const text = '# /// script\n# dependencies = [\n#   "requests>=2",\n#   "google-genai",\n# ]\n# ///\nimport requests';
  const files = [
    { path: "requirements.txt", text: "# comment\nPyYAML==6.0\n-r other.txt\n" },
    {
      path: "pyproject.toml",
      text: '[project]\ndependencies = ["python_docx>=1"]\n[tool.poetry.dependencies]\npandas = "^2"\n',
    },
  ];

  const imports = findImports(python(text, ["requests", "google", "yaml", "docx", "pandas", "numpy"], { files }));

  expect(imports.map(({ name, declaredIn }) => [name, declaredIn])).toEqual([
    ["docx", "pyproject.toml"],
    ["google", "scripts/a.py"],
    ["numpy", undefined],
    ["pandas", "pyproject.toml"],
    ["requests", "scripts/a.py"],
    ["yaml", "requirements.txt"],
  ]);
});

test("findImports() searches the text where no reader knows the modules", () => {
  const imports = findImports({
    ...python("import os, sys\nfrom bs4 import BeautifulSoup\n  import httpx\n", []),
    modules: undefined,
  });

  expect(imports.map(({ name }) => name)).toEqual(["bs4", "httpx"]);
});

test("findImports() finds packages of JavaScript, and leaves out files and what the runtime brings along", () => {
  const text = `import a from "chalk"; import { b } from '@scope/pkg/deep'; const c = require("lodash/get"); await import("node:fs");
    import fs from "fs"; import "./local.js"; import x from "npm:zod@3"; import y from "bun:sqlite"; export * from "../up.ts"; import "#alias";`;
  const files = [{ path: "package.json", text: '{"dependencies":{"chalk":"5"},"devDependencies":{"lodash":"4"}}' }];

  const imports = findImports({ ...python(text, [], { files }), language: "typescript", path: "scripts/a.ts" });

  expect(imports).toEqual([
    { name: "@scope/pkg", package: "@scope/pkg" },
    { name: "chalk", package: "chalk", declaredIn: "package.json" },
    { name: "lodash", package: "lodash", declaredIn: "package.json" },
    { name: "zod", package: "zod", declaredIn: "scripts/a.ts" },
  ]);
});

test("findImports() takes a package file that cannot be read for one that declares nothing", () => {
  const files = [
    { path: "package.json", text: "{" },
    { path: "scripts/package.json", text: "null" },
  ];

  expect(findImports({ ...python('import "chalk"', [], { files }), language: "javascript" })).toEqual([
    { name: "chalk", package: "chalk" },
  ]);
});

test("inlinePackages() reads only a block that is closed", () => {
  expect(inlinePackages("# /// script\n# dependencies = ['a']\n")).toEqual([]);
  expect(
    inlinePackages("# /// script\n# requires-python = '>=3.11'\n# dependencies = ['a', \"b[x]>1\"]\n# ///\n"),
  ).toEqual(["a", "b"]);
});

function python(
  text: string,
  modules: readonly string[],
  { local = [], files = [] }: { local?: readonly string[]; files?: readonly TextFile[] } = {},
): ImportSources {
  return {
    language: "python",
    path: "scripts/a.py",
    text,
    modules,
    local: new Set(local),
    declared: readDeclaredPackages(files),
  };
}
