import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";

import type { JsonSchema } from "../src/core/schema/json-schema.ts";
import { checkStrictly } from "../src/core/schema/validator.ts";

const root = resolve(import.meta.dirname, "..");

function loadSchema(name: string): JsonSchema {
  return JSON.parse(readFileSync(join(root, "schemas", name), "utf8")) as JsonSchema;
}

test("the schemas and the reference of a skill's files are what Kitbag reads these files with", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/write-schemas.ts", "--check"], {
    cwd: root,
    encoding: "utf8",
  });

  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test.for<[pattern: string, schema: string, parse: (text: string) => unknown]>([
  ["{skills,test/real-scripts/skills}/*/kitbag.toml", "kitbag-toml.json", parseToml],
  ["skills/*/scripts/manifest.yml", "manifest-yml.json", (text) => parseYaml(text) as unknown],
  ["skills/*/SKILL.md", "skill-front-matter.json", (text) => parseYaml(text.split("---\n")[1] ?? "") as unknown],
])("every %s fits %s", ([pattern, name, parse]) => {
  const schema = loadSchema(name);
  const paths = globSync(pattern, { cwd: root });

  const problems = paths.flatMap((path) => {
    const value = JSON.parse(JSON.stringify(parse(readFileSync(join(root, path), "utf8")))) as never;
    return checkStrictly(schema, value).map((problem) => ({ path, problem }));
  });

  expect(paths.length).toBeGreaterThan(2);
  expect(problems).toEqual([]);
});

test.for<[schema: string, value: unknown]>([
  ["kitbag-toml.json", { permision: {} }],
  ["kitbag-toml.json", { tools: [{ name: "a", kind: "wsam" }] }],
  ["manifest-yml.json", { tools: [{ name: "a" }] }],
  ["manifest-yml.json", { tools: [{ script: "a.py", parameters: { a: { flg: "--a" } } }] }],
  ["skill-front-matter.json", { name: "Not A Name", description: "x" }],
])("%s refuses %j", ([name, value]) => {
  expect(checkStrictly(loadSchema(name), value as never)).not.toEqual([]);
});
