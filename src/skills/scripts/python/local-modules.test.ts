import { expect, test } from "vitest";

import { findLocalModules } from "./local-modules.ts";

const table: readonly { name: string; text: string; found: readonly string[] }[] = [
  { name: "a module beside it", text: "from common import add", found: ["common"] },
  { name: "a module by its name", text: "import os, common as c", found: ["common"] },
  { name: "a module in a package", text: "from lib.cli import main", found: ["lib.cli"] },
  { name: "a module as a member of its package", text: "from lib import (\n    cli,  # ours\n)", found: ["lib.cli"] },
  { name: "a relative module", text: "from .common import add", found: [".common"] },
  { name: "a module by its path in the skill", text: "from scripts.common import add", found: ["scripts.common"] },
  { name: "a module in a folder that is put on the path", text: "import cli", found: ["cli"] },
  { name: "a module that another one imports", text: "import middle", found: ["middle", "common"] },
  { name: "a module that imports it in turn", text: "import back", found: ["back"] },
];

test.for(table)("findLocalModules() finds $name", ({ text, found }) => {
  const modules = findLocalModules("scripts/main.py", toFiles(text));

  expect(Object.keys(modules ?? {})).toEqual(found);
});

test.for([
  "import requests",
  "# common things",
  "from .. import nothing",
  "from __proto__ import constructor",
  "import ",
])("findLocalModules() finds nothing in %j", (text) => {
  expect(findLocalModules("scripts/main.py", toFiles(text))).toBe(undefined);
});

test("findLocalModules() gives no more than can be parsed for one script", () => {
  const names = Array.from({ length: 50 }, (_, index) => `part${index}`);
  const files = new Map(names.map((name) => [`scripts/${name}.py`, "x = 1\n"]));
  files.set("scripts/main.py", names.map((name) => `import ${name}`).join("\n"));
  files.set("scripts/part0.py", "x".repeat(300_000));

  const modules = findLocalModules("scripts/main.py", files);

  expect(Object.keys(modules ?? {})).toEqual(names.slice(1, 13));
});

function toFiles(text: string): ReadonlyMap<string, string> {
  return new Map([
    ["scripts/main.py", text],
    ["scripts/common.py", ""],
    ["scripts/lib/cli.py", ""],
    ["scripts/middle.py", "from common import add"],
    ["scripts/back.py", "import main"],
  ]);
}
