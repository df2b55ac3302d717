import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";

import { createScriptWorkspace, runScript } from "../../../test/support/run-script.ts";
import { findSandbox, type FoundSandbox } from "../../sandbox/find-sandbox.ts";
import { stripTypes } from "./strip-types.ts";
import { warmLauncher } from "./warm-launcher.ts";

let sandbox: FoundSandbox;

beforeAll(async () => {
  sandbox = await findSandbox();
});
afterAll(() => sandbox.close());

test("scriptRuntime() runs TypeScript that imports TypeScript, by any way", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "scripts/main.ts": `import { twice } from "../lib/twice.ts";
import type { Named } from "../lib/named.ts";
import { createRequire } from "node:module";
const named: Named = { name: "n" };
const { thrice } = createRequire(import.meta.url)("../lib/thrice.cts") as { thrice(n: number): number };
const { four } = await import("../lib/four.mts?x=1");
console.log(twice(2), thrice(2), four, named.name, import.meta.filename);`,
      "lib/twice.ts": "export const twice = (n: number): number => n * 2;",
      "lib/thrice.cts": "exports.thrice = (n: number): number => n * 3;",
      "lib/four.mts": "export const four: number = 4;",
      "lib/named.ts": "export interface Named { name: string }",
    },
  });

  expect(outcome).toEqual({ status: "ok", output: "4 6 4 n /skill/scripts/main.ts" });
});

test("scriptRuntime() runs TypeScript as CommonJS where it is written so", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.ts": `const { x }: { x: number } = require("./b.ts");\nconsole.log(x, require.main === module, __filename);`,
      "b.ts": "const x: number = 1;\nmodule.exports = { x };",
    },
  });

  expect(outcome).toEqual({ status: "ok", output: "1 true /skill/a.ts" });
});

test("scriptRuntime() obeys the type of the skill's own package", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.ts": "const x: string = typeof require;\nconsole.log(x, import.meta.dirname);",
      "package.json": '{ "type": "module" }',
    },
  });

  expect(outcome).toEqual({ status: "ok", output: "undefined /skill" });
});

test("scriptRuntime() tells the line and column of the source where TypeScript fails", async () => {
  const { outcome } = await runScript(sandbox, {
    files: { "a.ts": "interface A {\n  b: string;\n}\nconst a = null as unknown as A;\nconsole.log(a.b);" },
  });

  expect(outcome).toMatchObject({ error: { details: { stderr: expect.stringContaining("/skill/a.ts:5:15") } } });
});

test("scriptRuntime() runs enums, and still tells the line of the source", async () => {
  const { outcome, chunks } = await runScript(sandbox, {
    files: {
      "a.ts":
        "enum Color {\n  Red = 'red',\n  Blue = 'blue',\n}\nconsole.log(Color.Blue);\nthrow new Error(Color.Red);",
    },
  });

  expect(chunks).toEqual(["blue\n"]);
  expect(outcome).toMatchObject({ error: { details: { stderr: expect.stringContaining("/skill/a.ts:6:7") } } });
});

test("scriptRuntime() says where TypeScript cannot be read", async () => {
  const { outcome } = await runScript(sandbox, { files: { "a.ts": "const x: = 1;" } });

  expect(outcome).toMatchObject({ error: { code: "script-failed" } });
  expect(JSON.stringify(outcome)).toMatch(/\/skill\/a\.ts:1/u);
});

test("scriptRuntime() runs a script although another file of the skill is broken", async () => {
  const { outcome } = await runScript(sandbox, {
    files: { "a.ts": "const x: number = 1;\nconsole.log(x);", "b.ts": "const = ;", "c.ts": "{{ template }}" },
  });

  expect(outcome).toEqual({ status: "ok", output: "1" });
});

test("scriptRuntime() lets TypeScript start other scripts and workers", async () => {
  const { outcome } = await runScript(sandbox, {
    files: {
      "a.ts": `import { fork } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
const child = fork(new URL("./b.ts", import.meta.url));
const [message]: unknown[] = await once(child, "message");
const [said]: unknown[] = await once(new Worker(new URL("./c.ts", import.meta.url)), "message");
console.log(message, said);`,
      "b.ts": "process.send?.('forked' as string);\nprocess.disconnect();",
      "c.ts": `import { parentPort } from "node:worker_threads";\nparentPort?.postMessage("worker" as string);`,
    },
  });

  expect(outcome).toEqual({ status: "ok", output: "forked worker" });
});

test("scriptRuntime() starts TypeScript without loading what takes its types out", async () => {
  const { workspace } = createScriptWorkspace(sandbox, {
    files: {
      "a.ts": `const loaded: string[] = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
console.log(loaded.some((name: string) => name.includes("amaro")));
export {};`,
    },
  });

  const outcome = await workspace.call("script", {});

  expect(outcome).toEqual({ status: "ok", output: "false" });
});

test("scriptRuntime() runs TypeScript in an interpreter that waited as in one that did not, however many files there are", async () => {
  const launcher = warmLauncher(sandbox, { directory: sandbox.area.private });
  onTestFinished(() => launcher.close());
  const names = Array.from({ length: 20 }, (_, index) => `lib/part-${index}.ts`);
  const parts = names.map((name, index) => [
    name,
    index % 2 === 0 ? `export const n: number = ${index};` : `const n: number = ${index};\nmodule.exports = { n };`,
  ]);
  const main = `import { createRequire } from "node:module";
const paths: string[] = ${JSON.stringify(names)};
const all = await Promise.all(paths.map((path: string) => import("./" + path)));
console.log(all.reduce((sum: number, { n }) => sum + n, 0), import.meta.filename, createRequire(import.meta.url)("./a b#%.ts"));
throw new Error("of line 5" as string);`;
  const files = { "main.ts": main, "a b#%.ts": "module.exports = 'odd' as string;", ...Object.fromEntries(parts) };
  const { workspace } = createScriptWorkspace(sandbox, { files, options: { launcher } });

  const cold = await workspace.call("script", {});
  await vi.waitFor(() => expect(launcher.waiting).toBeGreaterThan(0), { timeout: 20_000 });
  const warm = await workspace.call("script", {});

  expect(JSON.stringify(cold)).toContain("190 /skill/main.ts odd");
  expect(JSON.stringify(cold)).toContain("/skill/main.ts:5:7");
  expect(warm).toEqual(cold);
});

test("stripTypes() keeps lines and columns, and writes the same files once", async () => {
  const [folder, cache] = [write({ "a.ts": "const a: number = 1;\n\nlet b = 'x' as string;" }), write({})];

  const directory = await stripTypes(folder, cache);
  const again = await stripTypes(folder, cache);

  expect(readFileSync(join(directory, "a.ts.js"), "utf8")).toBe("const a         = 1;\n\nlet b = 'x'          ;");
  expect(again).toBe(directory);
  expect(readdirSync(cache)).toHaveLength(1);
});

test("stripTypes() makes something else of other bytes", async () => {
  const cache = write({});

  const one = await stripTypes(write({ "a.ts": "let a: 1;" }), cache);
  const other = await stripTypes(write({ "a.ts": "let a: 2;" }), cache);

  expect(other).not.toBe(one);
});

test("stripTypes() is safe to be asked for the same at once", async () => {
  const folder = write({ "a.ts": "let a: 1;", "lib/b.mts": "let b: 1;" });
  const cache = join(write({}), "not/there/yet");

  const made = await Promise.all(Array.from({ length: 8 }, () => stripTypes(folder, cache)));

  expect(new Set(made).size).toBe(1);
  expect(readdirSync(cache)).toHaveLength(1);
});

test("stripTypes() leaves out declarations, packages and what is no TypeScript", async () => {
  const folder = write({ "a.d.ts": "", "node_modules/x/a.ts": "", "b.js": "", "bad.ts": "const = ;", "c.cts": "" });

  const directory = await stripTypes(folder, write({}));

  expect(readdirSync(directory)).toEqual(["c.cts.js"]);
});

test("stripTypes() warns nobody", async () => {
  const warnings: unknown[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on("warning", listen);
  onTestFinished(() => void process.off("warning", listen));

  await stripTypes(write({ "a.ts": "let a: 1;" }), write({}));
  await new Promise(setImmediate);

  expect(warnings).toEqual([]);
});

function write(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-strip-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
