/**
 * Builds `dist/`, or the folder that is given: declarations file by file, code in few files, because loading 200 small modules
 * takes Node three times as long as loading the same code in one. Programs that run inside a sandbox (`inside/`) are files that
 * need no other. The packages that `package.json` lists as dependencies and peers stay
 * imports; what the source uses of development dependencies is taken in, so whoever installs Kitbag installs less.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");
const dist = resolve(process.argv[2] ?? join(root, "dist"));

/** Dependencies whose declarations ours need, and whose code is taken in: they are many files, or bring what is not used here. */
const takenIn: readonly string[] = ["@modelcontextprotocol/server", "commander", "lru-cache", "smol-toml", "yaml"];

/** What is loaded with an entry, or together on the way of a command. */
const loads = {
  core: ["src/index.ts"],
  agent: ["src/agent.ts"],
  skills: ["src/skills.ts"],
  store: ["src/store.ts"],
  testing: ["src/testing/index.ts"],
  mcp: ["src/mcp/index.ts"],
  command: ["src/cli/run-program.ts"],
  project: ["src/cli/skills/open-with-skills.ts"],
  commands: ["call", "check", "list", "run", "search", "show", "stats", "test"].map(
    (name) => `src/cli/commands/${name}.ts`,
  ),
  records: ["src/cli/store/with-records.ts", "src/store/sqlite/sqlite-store.ts", "src/store/audit/open-audit.ts"],
  serve: [
    "src/cli/commands/serve.ts",
    "src/cli/serve/open-served.ts",
    "src/cli/serve/serve-stdio.ts",
    "src/forge/open-forge.ts",
    "src/forge/import/create-import-tool.ts",
    "src/forge/tools/create-forge-tools.ts",
    "src/forge/workflow/create-workflow-tools.ts",
    "src/mcp/server/calls/client-writer.ts",
  ],
} satisfies Readonly<Record<string, readonly string[]>>;

type Load = keyof typeof loads;

/**
 * The chunks, and who must all load a module for it to be there; the first that fits is taken. The more entries there are, the more
 * small chunks they would share, and each takes Node about a millisecond. In large ones, who needs a part loads all of it: so
 * what many need a part of is cut where they part.
 */
const chunks: readonly (readonly [name: string, loads: readonly Load[]])[] = [
  ["basis", ["core", "command"]],
  ["basis", ["core", "testing"]],
  ["common", ["core", "store"]],
  ["common", ["core", "records"]],
  ["core", ["core"]],
  ["command", ["command"]],
  ["kept", ["agent", "commands"]],
  ["kept", ["agent", "testing"]],
  ["kept", ["mcp", "store"]],
  ["kept", ["records", "agent"]],
  ["kept", ["records", "testing"]],
  ["files", ["records", "project"]],
  ["files", ["records", "skills"]],
  ["runs", ["agent", "store"]],
  ["dispatch", ["agent", "mcp"]],
  ["sqlite", ["records", "store"]],
  ["records", ["records"]],
  ["project", ["project"]],
  ["skills", ["skills"]],
  ["pieces", ["mcp", "commands"]],
  ["pieces", ["serve", "commands"]],
  ["agent", ["agent"]],
  ["mcp", ["mcp"]],
  ["serve", ["serve"]],
];

rmSync(dist, { recursive: true, force: true });
writeDeclarations();
writeLicenses(await bundle());
await bundleInside();
copyPrograms();
chmodSync(join(dist, "cli/main.js"), 0o755);

/** Checks the types, too. */
function writeDeclarations(): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", dist];
  try {
    execFileSync(process.execPath, args, { stdio: "inherit", cwd: root });
  } catch {
    // The compiler has said what is wrong.
    process.exit(1);
  }
}

/** Writes the code, and answers with the names of the packages that were taken in. */
async function bundle(): Promise<readonly string[]> {
  const { dependencies, peerDependencies } = readPackage(root) as Record<string, Record<string, string>>;
  const files = globSync("src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] });
  const entries = files.filter((file) => /^src\/(?:[\w-]+|[\w-]+\/index|cli\/main)\.ts$/u.test(file));
  // A file that asks where it is must stay where it is.
  const fixed = files.filter((file) => readFileSync(join(root, file), "utf8").includes("import.meta"));
  // Also those that the user installs if they are wanted.
  const external = Object.keys({ ...dependencies, ...peerDependencies })
    .filter((name) => !takenIn.includes(name))
    .map(toPattern);
  const chunkOf = await findChunks(entries, external);
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [toName(file), file])),
    platform: "node",
    external,
    preserveEntrySignatures: "allow-extension",
    // What is loaded when it is needed, and with a part that needs it at once, is meant to be.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: ({ name }) => (name.includes("/") ? "[name].js" : "chunks/[name].js"),
    codeSplitting: {
      groups: [
        { debugName: "fixed", name: (id) => fixed.map(toName).find((name) => isSource(id, name)) ?? null },
        // What is used here and inside of a sandbox or a thread: fixed files need it, and an entry must not export it for them.
        { debugName: "inside", name: (id) => (/[\\/]src[\\/].*[\\/]inside[\\/]/u.test(id) ? "inside" : null) },
        { debugName: "shared", name: (id) => chunkOf.get(id) ?? null },
      ],
      includeDependenciesRecursively: false,
    },
  });
  await build.close();
  const written = output.filter((file) => file.type === "chunk");
  for (const name of fixed.map(toName)) {
    const chunk = written.find(({ moduleIds }) => moduleIds.some((id) => isSource(id, name)));
    if (chunk !== undefined && chunk.fileName !== `${name}.js`) {
      throw new Error(`Cannot build: src/${name}.ts asks where it is, but is in ${chunk.fileName}`);
    }
  }
  const modules = written.flatMap(({ moduleIds }) => moduleIds);
  const names = modules.map((id) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/u.exec(id)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

/** The chunk of each module that one of `loads` needs. What the entries import is in them, they themselves are not. */
async function findChunks(
  entries: readonly string[],
  external: readonly RegExp[],
): Promise<ReadonlyMap<string, string>> {
  const importsOf = await findImports(external);
  const reached = new Map(
    Object.entries(loads).map(([name, files]) => [name, findReached(files.map(toId), importsOf)] as const),
  );
  const fixed = new Set(entries.map(toId));
  const found = [...importsOf.keys()].flatMap((id) => {
    const chunk = fixed.has(id)
      ? undefined
      : chunks.find(([, names]) => names.every((name) => reached.get(name)?.has(id)));
    return chunk === undefined ? [] : [[id, chunk[0]] as const];
  });
  return new Map(found);
}

/** What each module imports at once, of all that `loads` need. */
async function findImports(external: readonly RegExp[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const importsOf = new Map<string, readonly string[]>();
  const build = await rolldown({
    cwd: root,
    input: Object.values(loads).flat(),
    platform: "node",
    external: [...external],
    logLevel: "silent",
    plugins: [{ name: "imports", moduleParsed: ({ id, importedIds }) => void importsOf.set(id, importedIds) }],
  });
  await build.generate({ format: "esm" });
  await build.close();
  return importsOf;
}

/** The modules that are loaded with `ids`, without those that are loaded when they are needed. */
function findReached(ids: readonly string[], importsOf: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(ids);
  // A set that grows while it is gone through is gone through to its new end.
  for (const id of reached) for (const imported of importsOf.get(id) ?? []) reached.add(imported);
  return reached;
}

function toId(file: string): string {
  return join(root, file);
}

/** A package and all that it exports: a second copy of what `package/part` shares with `package` would be loaded beside it. */
function toPattern(name: string): RegExp {
  return new RegExp(`^${name.replaceAll(/[.]/gu, String.raw`\.`)}(?:/|$)`, "u");
}

/** `src/cli/main.ts` → `cli/main`. */
function toName(file: string): string {
  return file.slice("src/".length, -".ts".length).replaceAll("\\", "/");
}

function isSource(id: string, name: string): boolean {
  return id === join(root, "src", `${name}.ts`);
}

/** Makes one file of each program that runs inside a sandbox: nothing else of the package is there. */
async function bundleInside(): Promise<void> {
  for (const file of globSync("src/**/inside/*.ts", { cwd: root, exclude: ["**/*.test.ts"] })) {
    const build = await rolldown({ cwd: root, input: file, platform: "node" });
    const { output } = await build.write({
      file: join(dist, `${toName(file)}.js`),
      format: "esm",
      codeSplitting: false,
    });
    await build.close();
    const imports = output.flatMap((chunk) => (chunk.type === "chunk" ? [...chunk.imports, ...chunk.moduleIds] : []));
    const stranger = imports.find((name) => !name.startsWith("node:") && !/[\\/]src[\\/]/u.test(name));
    if (stranger !== undefined)
      throw new Error(`Cannot build ${file}: it imports ${stranger}, which is not there inside`);
  }
}

/** Programs in other languages stay beside the code that starts them. */
function copyPrograms(): void {
  const programs = ["src/**/*.py", "src/**/inside/**/*.{pl,rb,sh,cjs,mjs,json}"];
  for (const file of programs.flatMap((pattern) => globSync(pattern, { cwd: root }))) {
    const target = join(dist, file.slice("src/".length));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
  }
}

/** The licences of packages ask to be passed on with their code. */
function writeLicenses(names: readonly string[]): void {
  const texts = names.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version } = readPackage(folder) as { version: string };
    const [license] = globSync("{license,LICENSE,LICENCE}{,.md,.txt}", { cwd: folder });
    if (license === undefined) throw new Error(`Cannot bundle ${name}: it has no licence file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
  });
  writeFileSync(join(dist, "third-party-licenses.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

function readPackage(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}
