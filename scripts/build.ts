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
  const external = Object.keys({ ...dependencies, ...peerDependencies }).map(toPattern);
  const chunkOf = await findChunks(external);
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [toName(file), file])),
    platform: "node",
    external,
    preserveEntrySignatures: "allow-extension",
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
        { debugName: "core", name: (id) => chunkOf.get(id) ?? null },
      ],
      includeDependenciesRecursively: false,
    },
  });
  await build.close();
  const chunks = output.filter((file) => file.type === "chunk");
  for (const name of fixed.map(toName)) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => isSource(id, name)));
    if (chunk !== undefined && chunk.fileName !== `${name}.js`) {
      throw new Error(`Cannot build: src/${name}.ts asks where it is, but is in ${chunk.fileName}`);
    }
  }
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const names = modules.map((id) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/u.exec(id)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

/**
 * The chunk of each module that `import "kitbag"` loads. The more entries there are, the more small chunks they share, and each takes
 * Node about a millisecond: so there are three, by who else needs them, and the command and the stores load no more than they need.
 */
async function findChunks(external: readonly RegExp[]): Promise<ReadonlyMap<string, string>> {
  const command = await findReached("src/cli/main.ts", external);
  const stores = await findReached("src/store.ts", external);
  const chunkOf = new Map<string, string>();
  for (const id of await findReached("src/index.ts", external)) {
    if (isSource(id, "index")) continue;
    if (command.has(id)) chunkOf.set(id, "basis");
    else chunkOf.set(id, stores.has(id) ? "common" : "core");
  }
  return chunkOf;
}

/** The modules that are loaded with a file, without those that are loaded when they are needed. */
async function findReached(file: string, external: readonly RegExp[]): Promise<ReadonlySet<string>> {
  const build = await rolldown({ cwd: root, input: file, platform: "node", external: [...external] });
  const { output } = await build.generate({ format: "esm" });
  await build.close();
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === "chunk" ? [[chunk.fileName, chunk]] : [])));
  const reached = new Set<string>();
  const waiting = [...chunks.values()].filter(({ isEntry }) => isEntry);
  for (const { moduleIds, imports } of waiting) {
    for (const id of moduleIds) reached.add(id);
    for (const name of imports) {
      const chunk = chunks.get(name);
      if (chunk !== undefined && !waiting.includes(chunk)) waiting.push(chunk);
    }
  }
  return reached;
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
