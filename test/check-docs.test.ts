import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { expect, test } from "vitest";

import { findCommentFences, findFences } from "../scripts/docs/find-examples.ts";

const root = resolve(import.meta.dirname, "..");

test("check-docs passes examples that hold", async () => {
  const { code, output } = await checkDocs({
    "README.md": fence('import { one } from "kitbag";\n\nconsole.assert(one === 1);'),
    "docs/guide/two.md": fence("throw new Error('nobody runs this');", "ts no-run"),
    "examples/three.ts": 'import { one } from "kitbag";\n\nconsole.assert(one + 2 === 3);\n',
  });

  expect(output).toContain("3 examples are right");
  expect(code).toBe(0);
});

test("check-docs fails on an assertion that does not hold, and says where", async () => {
  const { code, output } = await checkDocs({ "README.md": `# Title\n\n${fence("console.assert(1 > 2, 'no');")}` });

  expect(output).toContain("README.md:4 fails when it runs");
  expect(output).toContain("AssertionError");
  expect(code).toBe(1);
});

test("check-docs fails on an error of types in code that is not run, and says where", async () => {
  const { code, output } = await checkDocs({ "docs/a.md": fence('\nexport const x: number = "text";', "ts no-run") });

  expect(output).toContain("docs/a.md(3,14): error TS2322");
  expect(code).toBe(1);
});

test("check-docs fails on an example in a comment that rejects, and says where", async () => {
  const comment = `/**\n * One.\n *\n * @example\n * \`\`\`ts\n * void Promise.reject(new Error("late"));\n * \`\`\`\n */\n`;

  const { code, output } = await checkDocs({ "src/more.ts": `${comment}export const more = 1;\n` });

  expect(output).toContain("src/more.ts:6 fails when it runs");
  expect(output).toContain("late");
  expect(code).toBe(1);
});

test("check-docs fails on a file of examples/ that throws", async () => {
  const { code, output } = await checkDocs({ "examples/bad.ts": 'throw new Error("bad example");\n' });

  expect(output).toContain("examples/bad.ts:1 fails when it runs");
  expect(code).toBe(1);
});

test("check-docs fails on an example behind one that ends the process", async () => {
  const { code, output } = await checkDocs({
    "docs/a.md": fence("process.exit(0);"),
    "docs/b.md": fence("export {};"),
    "docs/c.md": fence('throw new Error("behind");'),
  });

  expect(output).toContain("docs/c.md:2 fails when it runs");
  expect(output).not.toContain("docs/a.md:2");
  expect(code).toBe(1);
});

test("findFences() finds indented fences, and leaves other languages and fences inside fences alone", () => {
  const text = [
    "```sh",
    "ls",
    "```",
    "1. List",
    "   ```ts",
    "   a();",
    "     b();",
    "   ```",
    "````md",
    fence("c();"),
    "````",
  ];

  const examples = findFences("x.md", text.join("\n"));

  expect(examples).toEqual([{ source: "x.md", line: 6, code: "a();\n  b();", typesOnly: false }]);
});

test("findFences() refuses a fence that is never closed", () => {
  expect(() => findFences("x.md", "```ts\na();")).toThrow("Cannot read x.md: the fence before line 2 is never closed");
});

test("findCommentFences() finds the example of each comment at its line", () => {
  const text = [
    "const a = 1; // ```ts",
    "  /**",
    "   * One.",
    "   * ```ts",
    "   * a();",
    "   * ```",
    "   */",
    "/** Two. */",
  ];

  const examples = findCommentFences("x.ts", text.join("\n"));

  expect(examples).toEqual([{ source: "x.ts", line: 5, code: "a();", typesOnly: false }]);
});

/** Runs the check on a small repository that has these files. */
async function checkDocs(files: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-docs-"));
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  cpSync(join(root, "tsconfig.json"), join(folder, "tsconfig.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [file, text] of Object.entries({ "src/index.ts": "export const one = 1;\n", ...files })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { promise, resolve: finish } = Promise.withResolvers<{ code: number; output: string }>();
  execFile(process.execPath, [join(root, "scripts/check-docs.ts"), folder], (error, stdout, stderr) => {
    finish({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
  });
  const result = await promise;
  rmSync(folder, { recursive: true, force: true });
  return result;
}

function fence(code: string, mark = "ts"): string {
  return `\`\`\`${mark}\n${code}\n\`\`\`\n`;
}
