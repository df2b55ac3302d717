/** Bundlers build a program that uses the installed package, without any configuration for it, and the built program runs. */
import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test, vi, type TestContext } from "vitest";

import packageJson from "../../package.json" with { type: "json" };
import { findFreePort } from "../support/free-port.ts";

vi.setConfig({ testTimeout: 300_000 });

const root = resolve(import.meta.dirname, "../..");
const bundlers = join(import.meta.dirname, "node_modules");
const run = promisify(execFile);

const setUp = `
import { createWorkspace, defineTool } from "kitbag";
import { createAgent } from "kitbag/agent";

const input = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const add = defineTool({ name: "add", description: "Adds one", input, run: ({ a }) => a + 1 });
const workspace = createWorkspace({ tools: [add] });
const agent = createAgent({ workspace, model: "local" });
`;
// Not at the top level: an entry that waits for a part which needs the entry never ends in what some bundlers make of it.
const program = `${setUp}
async function main() {
  console.log(JSON.stringify([(await workspace.call("add", { a: 41 })).output, (await agent.run("add a: 1").result).status]));
}
void main();
`;
const printed = '[42,"ok"]\n';

/** What is used of the bundlers: they are installed for these tests alone, so their types are not there for the compiler. */
interface Esbuild {
  build(options: object): Promise<{ readonly metafile: { readonly outputs: Readonly<Record<string, Output>> } }>;
}

interface Rollup {
  rollup(options: object): Promise<{ write(options: object): Promise<unknown> }>;
}

/** A project that has the package and what it depends on, but no optional package. */
let project: string;

beforeAll(async () => {
  if (!existsSync(bundlers)) return;
  project = mkdtempSync(join(tmpdir(), "kitbag-bundlers-"));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
  writeFileSync(join(project, "program.mjs"), program);
  const modules = join(project, "node_modules");
  await run(process.execPath, [join(root, "scripts/build.ts"), join(modules, "kitbag/dist")], { cwd: root });
  cpSync(join(root, "package.json"), join(modules, "kitbag/package.json"));
  copyPackages(Object.keys(packageJson.dependencies), modules);
}, 120_000);

afterAll(() => {
  if (project !== undefined) rmSync(project, { recursive: true, force: true });
}, 60_000);

test("esbuild builds a program with an agent, of which at most 550 KB are loaded at once", async (context) => {
  needBundlers(context);
  const { build } = (await import(join(bundlers, "esbuild/lib/main.js"))) as Esbuild;
  const outdir = join(project, "out-esbuild");

  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: ["program.mjs"],
    bundle: true,
    minify: true,
    splitting: true,
    platform: "node",
    format: "esm",
    metafile: true,
    outdir,
  });

  expect(await runProgram(join(outdir, "program.js"))).toBe(printed);
  expect(sumOfLoaded(metafile.outputs, "out-esbuild/program.js")).toBeLessThanOrEqual(550_000);
});

test("esbuild builds one file of it", async (context) => {
  needBundlers(context);
  const { build } = (await import(join(bundlers, "esbuild/lib/main.js"))) as Esbuild;
  const outfile = join(project, "out-file/program.mjs");
  const options = { bundle: true, platform: "node", format: "esm", outfile } as const;

  await build({ absWorkingDir: project, entryPoints: ["program.mjs"], ...options });

  expect(await runProgram(outfile)).toBe(printed);
});

test("Rollup builds a program with an agent", async (context) => {
  needBundlers(context);
  const { rollup } = (await import(join(bundlers, "rollup/dist/es/rollup.js"))) as Rollup;
  const [nodeResolve, commonjs, json] = await Promise.all(
    ["node-resolve", "commonjs", "json"].map(async (name) => {
      const plugin = (await import(join(bundlers, "@rollup", `plugin-${name}/dist/es/index.js`))) as {
        readonly default: (options?: object) => unknown;
      };
      return plugin.default;
    }),
  );

  const built = await rollup({
    input: join(project, "program.mjs"),
    plugins: [nodeResolve?.({ preferBuiltins: true }), commonjs?.(), json?.()],
    onwarn: () => {},
  });
  await built.write({ dir: join(project, "out-rollup"), format: "esm", entryFileNames: "[name].mjs" });

  expect(await runProgram(join(project, "out-rollup/program.mjs"))).toBe(printed);
});

test("Vite builds a program for a server", async (context) => {
  needBundlers(context);
  const { build } = await import("vite");

  await build({
    root: project,
    logLevel: "error",
    configFile: false,
    ssr: { noExternal: true },
    build: { ssr: "program.mjs", outDir: "out-vite" },
  });

  expect(await runProgram(join(project, "out-vite/program.js"))).toBe(printed);
});

test("Next builds and serves a route with an agent", async (context) => {
  needBundlers(context);
  // Next compiles only what lies in one folder with itself.
  const folder = join(import.meta.dirname, "project");
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(project, "node_modules"), join(folder, "node_modules"), { recursive: true });
  writeRoute(folder);
  const next = join(bundlers, "next/dist/bin/next");
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
  await run(process.execPath, [next, "build"], { cwd: folder, env });
  const port = await findFreePort();

  const server = spawn(process.execPath, [next, "start", "--port", String(port), "--hostname", "127.0.0.1"], {
    cwd: folder,
    env,
    stdio: "ignore",
  });
  try {
    const answer = await vi.waitUntil(
      () =>
        fetch(`http://127.0.0.1:${port}/hello`).then(
          (response) => response.text(),
          () => undefined,
        ),
      { timeout: 30_000, interval: 200 },
    );

    expect(answer).toBe(printed.trim());
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 3, retryDelay: 200 });
  }
});

function needBundlers({ skip }: Pick<TestContext, "skip">): void {
  if (process.env["KITBAG_REQUIRE_ALL"] !== "1")
    skip(!existsSync(bundlers), "the bundlers of test/bundlers are not installed");
}

/** Copies packages with all that they depend on: a link would lead to where the optional packages are. */
function copyPackages(names: readonly string[], modules: string): void {
  for (const name of names) {
    const [from, to] = [join(root, "node_modules", name), join(modules, name)];
    if (existsSync(to) || !existsSync(from)) continue;
    cpSync(from, to, { recursive: true, dereference: true });
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    copyPackages(Object.keys(dependencies), modules);
  }
}

function writeRoute(folder: string): void {
  const files = {
    "app/hello/route.js": `${setUp}
export const dynamic = "force-dynamic";
export async function GET() {
  return Response.json([(await workspace.call("add", { a: 41 })).output, (await agent.run("add a: 1").result).status]);
}
`,
    "package.json": '{ "type": "module" }',
    "app/layout.js": "export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

async function runProgram(file: string): Promise<string> {
  return (await run(process.execPath, [file], { cwd: project })).stdout;
}

interface Output {
  readonly bytes: number;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/** The bytes of a file and of all that it imports when it is loaded. */
function sumOfLoaded(outputs: Readonly<Record<string, Output>>, entry: string): number {
  const loaded = new Set([entry]);
  for (const name of loaded) {
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === "import-statement") loaded.add(path);
  }
  return [...loaded].reduce((sum, name) => sum + (outputs[name]?.bytes ?? 0), 0);
}
