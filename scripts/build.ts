/**
 * Builds `dist/`, or the folder that is given: TypeScript to JavaScript, then the packages that only a few of our files use
 * into those files. So they load faster (the JSON Schema engine by far), and whoever installs Kitbag installs less.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { rolldown } from "rolldown";

const root = resolve(import.meta.dirname, "..");
const dist = resolve(process.argv[2] ?? join(root, "dist"));

/** The files that take packages in. They are nearly all package: small counts for more than readable. */
const bundled = ["core/schema/engine.js"];

rmSync(dist, { recursive: true, force: true });
compile();
const packages = new Set<string>();
for (const file of bundled) {
  for (const name of await bundleInto(join(dist, file))) packages.add(name);
}
writeLicenses([...packages].toSorted());
chmodSync(join(dist, "cli/main.js"), 0o755);

function compile(): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", dist];
  try {
    execFileSync(process.execPath, args, { stdio: "inherit", cwd: root });
  } catch {
    // The compiler has said what is wrong.
    process.exit(1);
  }
}

/** Takes the packages that `file` imports into it, and answers with their names. Our own files stay files. */
async function bundleInto(file: string): Promise<Set<string>> {
  const bundle = await rolldown({
    cwd: root,
    input: file,
    // `dist` may be anywhere; the packages are here.
    resolve: { modules: [join(root, "node_modules")] },
    platform: "node",
    external: (id, importer) => importer === file && id.startsWith("."),
  });
  const { output } = await bundle.write({ file, format: "esm", minify: true, comments: { legal: true } });
  await bundle.close();
  const [chunk] = output;
  const taken = chunk.moduleIds.filter((id) => id !== chunk.facadeModuleId);
  const names = taken.map((id) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/u.exec(id)?.[1]);
  return new Set(names.filter((name) => name !== undefined));
}

/** Their licences ask to be passed on with the code. */
function writeLicenses(names: readonly string[]): void {
  const texts = names.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    const [license] = globSync("{license,LICENSE,LICENCE}{,.md,.txt}", { cwd: folder });
    if (license === undefined) throw new Error(`Cannot bundle ${name}: it has no licence file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
  });
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, "third-party-licenses.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}
