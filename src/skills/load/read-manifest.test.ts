import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { readFolder } from "../folder/read-folder.ts";
import { readManifest, type ManifestReading } from "./read-manifest.ts";

const kitbag = '[skill]\nname = "from-kitbag"\n';
const plugin = 'name = "from-plugin"\ncapabilities = ["skill"]\n';
const tool = '{"name": "from-tool", "tool_type": "script", "entry_file": "run.py"}';

test("readManifest() answers with nothing for a folder without a manifest", () => {
  expect(read({ "SKILL.md": "", "package.json": "{}" })).toEqual({ diagnostics: [] });
});

test.for([
  ["kitbag.toml", { "kitbag.toml": kitbag }, "from-kitbag"],
  ["manifest.toml", { "manifest.toml": plugin, "SKILL.md": "" }, "from-plugin"],
  ["manifest.json", { "manifest.json": tool, "run.py": "" }, "from-tool"],
] as const)("readManifest() reads %s", ([file, files, name]) => {
  expect(read(files)).toMatchObject({ manifest: { file, name }, diagnostics: [] });
});

test("readManifest() takes ours before those of others, and says so", () => {
  const reading = read({ "kitbag.toml": kitbag, "manifest.toml": plugin, "manifest.json": tool, "run.py": "" });

  expect(reading.manifest?.name).toBe("from-kitbag");
  expect(reading.diagnostics).toEqual([
    {
      severity: "info",
      code: "manifest-ignored",
      message: "Did not read manifest.toml: kitbag.toml goes before it",
      file: "manifest.toml",
    },
    {
      severity: "info",
      code: "manifest-ignored",
      message: "Did not read manifest.json: kitbag.toml goes before it",
      file: "manifest.json",
    },
  ]);
});

test("readManifest() leaves a manifest.json beside a SKILL.md alone: it is anybody's", () => {
  expect(read({ "manifest.json": '{"manifest_version": 3}', "skill.md": "" })).toEqual({ diagnostics: [] });
});

test("readManifest() reads only manifests of the folder itself", () => {
  expect(read({ "SKILL.md": "", "examples/kitbag.toml": "not = toml =" })).toEqual({ diagnostics: [] });
});

test("readManifest() says what is wrong with a manifest, and reads no other one in its place", () => {
  const reading = read({ "kitbag.toml": "= wrong", "manifest.toml": plugin, "SKILL.md": "" });

  expect(reading.manifest).toBeUndefined();
  expect(reading.diagnostics).toMatchObject([
    { severity: "error", code: "manifest-invalid", file: "kitbag.toml", line: 1 },
    { severity: "info", code: "manifest-ignored" },
  ]);
});

function read(files: Readonly<Record<string, string>>): ManifestReading {
  return readManifest(readFolder(createFolder(files)));
}
