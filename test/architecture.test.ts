import { execFile } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { powers, rows } from "../layers.ts";

const root = resolve(import.meta.dirname, "..");

interface Plant {
  readonly name: string;
  readonly file: string;
  readonly code: string;
  /** The rule that must report it. */
  readonly rule: string;
}

const layers = "eslint(no-restricted-imports)";

/** One file for each way to do what the architecture forbids. */
const plants: readonly Plant[] = [
  {
    name: "a value from above",
    file: "src/core/value.ts",
    code: 'export { below } from "./below.ts";\nimport { above } from "../workspace/above.ts";\nvoid above;',
    rule: layers,
  },
  {
    name: "a value from above, through the root",
    file: "src/core/rooted.ts",
    code: 'import { above } from "../../src/workspace/above.ts";\nvoid above;',
    rule: layers,
  },
  {
    name: "a value from above, by a detour",
    file: "src/core/detour.ts",
    code: 'import { above } from "./../core/../workspace/above.ts";\nvoid above;',
    rule: layers,
  },
  {
    name: "a value from above, from a folder in a folder",
    file: "src/core/schema/deep/value.ts",
    code: 'import { above } from "../../../workspace/above.ts";\nvoid above;',
    rule: layers,
  },
  {
    name: "a type from above",
    file: "src/core/type-only.ts",
    code: 'import type { Above } from "../workspace/above.ts";\nexport type Mine = Above;',
    rule: layers,
  },
  {
    name: "an inline type from above",
    file: "src/core/inline-type.ts",
    code: 'export type Mine = import("../workspace/above.ts").Above;',
    rule: "typescript(consistent-type-imports)",
  },
  {
    name: "a mixed import from above",
    file: "src/core/mixed.ts",
    code: 'import { type Above, above } from "../workspace/above.ts";\nexport const mine: Above = above;',
    rule: layers,
  },
  {
    name: "a name shown again from above",
    file: "src/core/re-export.ts",
    code: 'export { above } from "../workspace/above.ts";',
    rule: layers,
  },
  {
    name: "a type shown again from above",
    file: "src/core/re-export-type.ts",
    code: 'export type { Above } from "../workspace/above.ts";',
    rule: layers,
  },
  {
    name: "all names shown again from above",
    file: "src/core/re-export-all.ts",
    code: 'export * from "../workspace/above.ts";',
    rule: layers,
  },
  {
    name: "a dynamic import from above",
    file: "src/core/dynamic.ts",
    code: 'export const load = async (): Promise<unknown> => import("../workspace/above.ts");',
    rule: layers,
  },
  {
    name: "an import from above for its effect",
    file: "src/core/effect.ts",
    code: 'import "../workspace/above.ts";',
    rule: layers,
  },
  {
    name: "a value from a neighbour",
    file: "src/store/sideways.ts",
    code: 'import { neighbour } from "../runtimes/neighbour.ts";\nvoid neighbour;',
    rule: layers,
  },
  {
    name: "a value from the command line",
    file: "src/workspace/up.ts",
    code: 'import { command } from "../cli/command.ts";\nvoid command;',
    rule: layers,
  },
  {
    name: "a node: module in core",
    file: "src/core/node-module.ts",
    code: 'import { cpus } from "node:os";\nvoid cpus;',
    rule: layers,
  },
  {
    name: "a node module without its prefix in core",
    file: "src/core/bare-node-module.ts",
    code: 'import { cpus } from "os";\nvoid cpus;',
    rule: "unicorn(prefer-node-protocol)",
  },
  {
    name: "the package itself",
    file: "src/workspace/own-name.ts",
    code: 'import { defineTool } from "kitbag";\nvoid defineTool;',
    rule: layers,
  },
  {
    name: "an entry of the package",
    file: "src/workspace/own-entry-name.ts",
    code: 'import { x } from "kitbag/testing";\nvoid x;',
    rule: layers,
  },
  {
    name: "the entry file",
    file: "src/workspace/entry.ts",
    code: 'import { defineTool } from "../index.ts";\nvoid defineTool;',
    rule: layers,
  },
  {
    name: "an entry file of a folder",
    file: "src/cli/entry.ts",
    code: 'import { x } from "../testing/index.ts";\nvoid x;',
    rule: layers,
  },
  {
    name: "another entry file",
    file: "src/core/other-entry.ts",
    code: 'import { x } from "../skills.ts";\nvoid x;',
    rule: layers,
  },
  {
    name: "a way in, in another entry",
    file: "src/skills.ts",
    code: 'export { command as x } from "./cli/command.ts";',
    rule: layers,
  },
  {
    name: "a way in, in the entry",
    file: "src/index.ts",
    code: 'export { command } from "./cli/command.ts";',
    rule: layers,
  },
  {
    name: "a power behind the compiler's back",
    file: "src/core/built-in.ts",
    code: 'export const files: unknown = process.getBuiltinModule("fs");',
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "a cycle",
    file: "src/core/cycle-a.ts",
    code: 'import { b } from "./cycle-b.ts";\nexport const a = (): unknown => b;',
    rule: "import(no-cycle)",
  },
  {
    name: "the other half of a cycle",
    file: "src/core/cycle-b.ts",
    code: 'import { a } from "./cycle-a.ts";\nexport const b = (): unknown => a;',
    rule: "import(no-cycle)",
  },
  {
    name: "a cycle of types",
    file: "src/core/type-cycle-a.ts",
    code: 'import type { B } from "./type-cycle-b.ts";\nexport interface A { readonly b: B }',
    rule: "import(no-cycle)",
  },
  {
    name: "the other half of a cycle of types",
    file: "src/core/type-cycle-b.ts",
    code: 'import type { A } from "./type-cycle-a.ts";\nexport interface B { readonly a: A }',
    rule: "import(no-cycle)",
  },
  ...Object.entries(powers).flatMap(([power, owners]) => plantPower(power, owners)),
  {
    name: "a file that is too long",
    file: "src/core/long-file.ts",
    code: lines(301, (line) => `export const name${line} = ${line};`),
    rule: "eslint(max-lines)",
  },
  {
    name: "a function that is too long",
    file: "src/core/long-function.ts",
    code: `export function long(): void {\n${lines(51, (line) => `  void ${line};`)}\n}`,
    rule: "eslint(max-lines-per-function)",
  },
  {
    name: "too many parameters",
    file: "src/core/parameters.ts",
    code: "export const many = (a: number, b: number, c: number, d: number, e: number): number => a + b + c + d + e;",
    rule: "eslint(max-params)",
  },
  {
    name: "too many branches",
    file: "src/core/branches.ts",
    code: `export function branchy(x: number): void {\n${lines(15, (line) => `  if (x === ${line}) return;`)}\n}`,
    rule: "eslint(complexity)",
  },
  {
    name: "a name that is not kebab-case",
    file: "src/core/camelCase.ts",
    code: "export const x = 1;",
    rule: "unicorn(filename-case)",
  },
  { name: "any", file: "src/core/any.ts", code: "export const x: any = 1;", rule: "typescript(no-explicit-any)" },
];

/** Files that do what is allowed: a linter that reports everything would pass the test above. */
const innocents: readonly Omit<Plant, "rule" | "name">[] = [
  { file: "src/core/below.ts", code: "export const below = 1;\nexport type Below = number;" },
  {
    file: "src/workspace/above.ts",
    code: 'import { below, type Below } from "../core/below.ts";\nexport const above: Below = below;\nexport type Above = Below;',
  },
  { file: "src/runtimes/neighbour.ts", code: 'export { below as neighbour } from "../core/below.ts";' },
  {
    file: "src/cli/command.ts",
    code: 'import { readFileSync } from "node:fs";\n\nimport { above } from "../workspace/above.ts";\n\nexport const command = [readFileSync, above];',
  },
  { file: "src/testing/index.ts", code: 'export { x } from "./x.ts";' },
  {
    file: "src/testing/x.ts",
    code: 'import { neighbour } from "../runtimes/neighbour.ts";\n\nexport const x: number = neighbour;',
  },
  {
    file: "src/core/below.test.ts",
    code: 'import { above } from "../workspace/above.ts";\n\nexport const tested = above;',
  },
];

let folder: string;
let reports: readonly Report[];

beforeAll(async () => {
  folder = plantAll([...plants, ...innocents]);
  reports = await lint(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.for(plants)("oxlint.config.ts reports $name ($file)", ({ file, rule }) => {
  const rules = reports.filter(({ filename }) => filename === file).map(({ code }) => code);

  expect(rules).toContain(rule);
});

test.for(innocents)("oxlint.config.ts has nothing against $file", ({ file }) => {
  const rules = reports.filter(({ filename }) => filename === file).map(({ code }) => code);

  expect(rules).toEqual([]);
});

test("layers.ts names every folder of src/", () => {
  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());

  const missing = folders.map(({ name }) => name).filter((name) => !rows.flat().includes(name));

  expect(missing).toEqual([]);
});

test("layers.ts names no folder twice, and gives powers to folders that it names", () => {
  const folders = rows.flat();

  const strangers = Object.values(powers)
    .flat()
    .filter((name) => !folders.includes(name));

  expect(new Set(folders).size).toBe(folders.length);
  expect(strangers).toEqual([]);
});

test("src/ has no file whose name says nothing", () => {
  const vague = new Set(["utils", "util", "helpers", "helper", "common", "types", "misc", "shared", "lib"]);

  const found = sourceFiles().filter((file) => vague.has(basename(file, ".ts")));

  expect(found).toEqual([]);
});

// The linter counts the lines of TypeScript and JavaScript; these it does not read.
test("src/ has no program in another language that is too long", () => {
  const programs = globSync("src/**/*.{py,pl,rb,sh}", { cwd: root, exclude: ["**/fixtures/**"] });

  const long = programs.filter((file) => countCode(readFileSync(join(root, file), "utf8")) > 300);

  expect(programs).not.toEqual([]);
  expect(long).toEqual([]);
});

test("src/ documents every name that it exports", () => {
  const exported =
    /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|let) (\w+)/u;

  const bare = sourceFiles().flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8").split("\n");
    const names = text.map((line) => exported.exec(line)?.[1]);
    return names.flatMap((name, index) => {
      // An overload is documented by the first of its kind.
      if (name === undefined || names.indexOf(name) < index) return [];
      return text[index - 1]?.trimEnd().endsWith("*/") ? [] : [`${file}:${index + 1} ${name}`];
    });
  });

  expect(bare).toEqual([]);
});

interface Report {
  readonly filename: string;
  readonly code: string;
}

/** A forbidden import of a power, with and without prefix, and of what is inside it. */
function plantPower(power: string, owners: readonly string[]): Plant[] {
  const folder = rows.flat().findLast((name) => !owners.includes(name) && name !== "core") ?? "core";
  const forms = { bare: power, prefixed: `node:${power}`, inner: `node:${power}/promises` };
  return Object.entries(forms).map(([form, specifier]) => ({
    name: `"${specifier}" in ${folder}`,
    file: `src/${folder}/power-${power.replace("_", "-")}-${form}.ts`,
    code: `import * as power from "${specifier}";\nvoid power;`,
    rule: layers,
  }));
}

/** Copies what the linter reads into a new folder, with `files` for its source. */
function plantAll(files: readonly Omit<Plant, "rule" | "name">[]): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-architecture-"));
  for (const name of ["oxlint.config.ts", "layers.ts", "tsconfig.json", "package.json"]) {
    cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const { file, code } of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), `${code}\n`);
  }
  return folder;
}

async function lint(folder: string): Promise<readonly Report[]> {
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const { promise, resolve: finish } = Promise.withResolvers<string>();
  // It exits with 1, because it finds something; what it found is on standard output.
  execFile(process.execPath, [oxlint, "--format=json"], { cwd: folder, maxBuffer: 2 ** 26 }, (_, stdout) =>
    finish(stdout),
  );
  const { diagnostics } = JSON.parse(await promise) as { diagnostics: Report[] };
  return diagnostics;
}

function sourceFiles(): string[] {
  return globSync("src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts", "**/fixtures/**"] });
}

/** Lines that are neither empty nor a comment. */
function countCode(text: string): number {
  return text.split("\n").filter((line) => !/^\s*(?:#|$)/u.test(line)).length;
}

function lines(count: number, write: (line: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join("\n");
}
