/**
 * Builds `dist/`, or the folder that is given: the declarations that users need file by file, code in few files, because loading 200
 * small modules takes Node three times as long as loading the same code in one. Programs that run inside a sandbox (`inside/`) are files that
 * need no other. The packages that `package.json` lists as dependencies and peers stay
 * imports; what the source uses of development dependencies is taken in, so whoever installs Kitbag installs less.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { rolldown } from "rolldown";

import { dropDeclarations, writeCommonJsDeclarations } from "./build/drop-declarations.ts";
import { findChunks } from "./build/find-chunks.ts";
import { withoutValidator } from "./build/without-validator.ts";

/** The files that are entries of the package, and the command. */
const entryPattern =
  /^src\/(?:[\w-]+|[\w-]+\/index|cli\/main|http\/client|adapters\/(?:ai-sdk|langchain|mastra|openai-agents))\.ts$/u;

const root = resolve(import.meta.dirname, "..");
const dist = resolve(process.argv[2] ?? join(root, "dist"));

/** Dependencies that are there for the types that ours name; their code is taken in, too. */
const takenIn: ReadonlySet<string> = new Set(["@modelcontextprotocol/server"]);

/** The name of the package that a file belongs to. */
const packagePattern = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/u;

/** What of the development dependencies is neither code nor declarations. */
const parserFiles = [
  "web-tree-sitter/web-tree-sitter.wasm",
  "tree-sitter-bash/tree-sitter-bash.wasm",
  "tree-sitter-typescript/tree-sitter-tsx.wasm",
  "tree-sitter-typescript/tree-sitter-typescript.wasm",
];

rmSync(dist, { recursive: true, force: true });
writeDeclarations();
dropDeclarations(dist, readEntries());
writeCommonJsDeclarations(dist);
writeLicenses([...new Set([...(await bundle()), ...parserFiles.map(dirname)])].toSorted());
await writeModules();
await bundleInside();
copyPrograms();
copyParsers();
chmodSync(join(dist, "cli/main.js"), 0o755);

/** Does not check the types: `npm run check lint` does. */
function writeDeclarations(): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", dist, "--noCheck"];
  try {
    execFileSync(process.execPath, args, { stdio: "inherit", cwd: root });
  } catch {
    // The compiler has said what is wrong.
    process.exit(1);
  }
}

/** The declarations of what users import. */
function readEntries(): readonly string[] {
  const { exports } = readPackage(root) as {
    exports: Record<string, string | { readonly import: { readonly types: string } }>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.import.types.replace("./dist/", "")],
  );
}

/** Writes the code, and answers with the names of the packages that were taken in. */
async function bundle(): Promise<readonly string[]> {
  const { dependencies, peerDependencies } = readPackage(root) as Record<string, Record<string, string>>;
  const files = globSync("src/**/*.ts", { cwd: root, exclude: ["**/*.test.ts"] });
  const entries = files.filter((file) => entryPattern.test(file));
  // A file that asks where it is must stay where it is.
  const fixed = files.filter((file) => readFileSync(join(root, file), "utf8").includes("import.meta"));
  // Also those that the user installs if they are wanted.
  const external = Object.keys({ ...dependencies, ...peerDependencies })
    .filter((name) => !takenIn.has(name))
    .map(toPattern);
  const chunkOf = await findChunks(root, { entries, external });
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [toName(file), file])),
    platform: "node",
    external,
    plugins: [withoutValidator],
    preserveEntrySignatures: "allow-extension",
    // What is loaded when it is needed, and with a part that needs it at once, is meant to be.
    // The parser of scripts has an `eval` that only a debugger of it uses.
    checks: { ineffectiveDynamicImport: false, eval: false },
  });
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    sourcemap: true,
    sourcemapExcludeSources: true,
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
  const names = modules.map((id) => packagePattern.exec(id)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

/**
 * Writes the code once more, a file for each module, for programs that are bundled: of a chunk that serves several entries a bundler would take
 * all. Bundlers find it by the condition `module`; Node does not know that word.
 */
async function writeModules(): Promise<void> {
  const { dependencies, peerDependencies } = readPackage(root) as Record<string, Record<string, string>>;
  const entries = readEntries().map((file) => `src/${file.replace(/\.d\.ts$/u, ".ts")}`);
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [toName(file), file])),
    platform: "node",
    external: Object.keys({ ...dependencies, ...peerDependencies })
      .filter((name) => !takenIn.has(name))
      .map(toPattern),
    plugins: [withoutValidator],
    preserveEntrySignatures: "allow-extension",
    checks: { eval: false },
  });
  await build.write({
    dir: join(dist, "modules"),
    format: "esm",
    comments: { legal: true, annotation: true, jsdoc: false },
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    codeSplitting: { groups: [{ debugName: "modules", name: toModuleName }], includeDependenciesRecursively: false },
  });
  await build.close();
}

/** `…/src/core/json.ts` → `core/json`; all of a package is one file. */
function toModuleName(id: string): string | null {
  const [, name] = packagePattern.exec(id) ?? [];
  if (name !== undefined) return `packages/${name.replace("/", "-")}`;
  return id.startsWith(join(root, "src")) ? toName(relative(root, id)) : null;
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
      sourcemap: true,
      sourcemapExcludeSources: true,
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

/** The parsers of scripts, beside the code that loads them. */
function copyParsers(): void {
  const folder = join(dist, "skills/scripts/syntax");
  mkdirSync(folder, { recursive: true });
  for (const file of parserFiles) copyFileSync(join(root, "node_modules", file), join(folder, basename(file)));
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
