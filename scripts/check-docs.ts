/**
 * Checks the types of every example in the documentation, and runs it: against the source, or with `--built` against `dist/`, as users have it
 * (faster: the types of the source are not checked again). An example fails if it throws, or if a `console.assert` in it does not hold. `no-run`
 * after the fence's `ts` means that only its types are checked. Takes the root of another repository for its own test.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { findExamples, type Example } from "./docs/find-examples.ts";

const here = resolve(import.meta.dirname, "..");
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { built: { type: "boolean", default: false } },
});
const root = resolve(positionals[0] ?? here);
/** Inside the repository, so that `import "kitbag"` means this package; ignored by git. */
const folder = makeFolder();
const limitMs = 60_000;

interface Written extends Example {
  /** Where it was written to, to be checked and run. */
  readonly file: string;
}

const examples = findExamples(root).map(write);
const problems = [...(await checkTypes(examples)), ...(await runAll(examples.filter(({ typesOnly }) => !typesOnly)))];
rmSync(folder, { recursive: true, force: true });

if (problems.length === 0) console.log(`${examples.length} examples are right`);
else {
  console.error(problems.join("\n\n"));
  process.exitCode = 1;
}

function makeFolder(): string {
  mkdirSync(join(root, ".kitbag"), { recursive: true });
  return mkdtempSync(join(root, ".kitbag/examples-"));
}

/** Writes an example where it stands in its source, line for line: so every message has the line to look at. */
function write(example: Example): Written {
  const { source, line, code } = example;
  if (source.startsWith("examples/")) return { ...example, file: join(root, source) };
  const file = join(folder, `${source.replaceAll("/", "+")}+${line}.ts`);
  writeFileSync(file, `${"\n".repeat(line - 1)}${code}\n`);
  return { ...example, file };
}

/** Puts the names of the sources in the place of those of the written files. */
function rename(text: string, written: readonly Written[]): string {
  let renamed = text;
  for (const { file, source } of written) {
    for (const name of [pathToFileURL(file).href, file, file.slice(root.length + 1)])
      renamed = renamed.replaceAll(name, source);
  }
  return renamed;
}

async function checkTypes(written: readonly Written[]): Promise<string[]> {
  const config = join(folder, "tsconfig.json");
  const files = written.map(({ file }) => file);
  const compilerOptions = options.built ? { customConditions: [] } : {};
  writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] }));
  const { code, output } = await run(
    [join(here, "node_modules/typescript/bin/tsc"), "-p", config, "--pretty", "false"],
    root,
  );
  return code === 0 ? [] : [rename(output, written).trim()];
}

/** Runs the examples in few processes. Where one of them fails, each of its examples is run by itself, to tell which. */
async function runAll(written: readonly Written[]): Promise<string[]> {
  const count = Math.min(availableParallelism(), written.length);
  const shares = Array.from({ length: count }, (_, share) =>
    written.filter((_example, index) => index % count === share),
  );
  const failures = await Promise.all(
    shares.map(async (share) => {
      const { code, output } = await runFiles(share);
      if (code === 0 && output.endsWith(`all ${share.length} examples ran\n`)) return [];
      const found: string[] = [];
      for (const example of share) found.push(...(await runOne(example)));
      return found;
    }),
  );
  return failures.flat();
}

async function runOne(example: Written): Promise<string[]> {
  const { code, output } = await runFiles([example]);
  if (code === 0) return [];
  const shown = rename(output, [example]).replaceAll(/^ +at .*\(?node:.*\n/gmu, "");
  return [`${example.source}:${example.line} fails when it runs:\n${shown.trim()}`];
}

async function runFiles(examples: readonly Written[]): Promise<{ code: number; output: string }> {
  const runner = join(here, "scripts/docs/run-examples.mjs");
  // An example may write files: it gets a folder of its own to do so.
  const cwd = mkdtempSync(join(tmpdir(), "kitbag-example-"));
  const conditions = options.built ? [] : ["--conditions=@kitbag/source"];
  const result = await run([...conditions, runner, ...examples.map(({ file }) => file)], cwd);
  rmSync(cwd, { recursive: true, force: true });
  return result;
}

async function run(args: string[], cwd: string): Promise<{ code: number; output: string }> {
  const { promise, resolve: finish } = Promise.withResolvers<{ code: number; output: string }>();
  execFile(process.execPath, args, { cwd, timeout: limitMs, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
    const late = error?.killed === true ? `still running after ${limitMs} ms` : "";
    finish({ code: error === null ? 0 : 1, output: `${stderr}${late}${stdout}` });
  }).stdin?.end();
  return promise;
}
