import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

import { makeHomeFolder } from "../../platform/home.ts";
import { makeReadableFolders } from "../../sandbox/host.ts";

/** Larger files are left to Node itself. */
const maxFileBytes = 2 * 1024 * 1024;
const maxFiles = 2000;

/**
 * Takes the types out of all TypeScript in a skill's folder, once for the same bytes, and answers with a directory in `cache` that
 * has `<path>.js` for each file. Lines and columns stay as they were; where enums and the like must be written out, the file ends
 * with a map that leads back. A file that cannot be read as TypeScript is left out: Node says what is wrong when it is used.
 */
export async function stripTypes(folder: string, cache: string): Promise<string> {
  const files = await readSources(folder);
  const hash = createHash("sha256").update(`${process.version}\n`);
  for (const { path, text } of files) hash.update(`${path}\0${text.length}\0${text}\0`);
  const directory = join(cache, `typescript-${hash.digest("hex").slice(0, 32)}`);
  if (!existsSync(directory)) await writeStripped(files, directory, cache);
  return directory;
}

interface Source {
  readonly path: string;
  readonly text: string;
}

async function readSources(folder: string): Promise<readonly Source[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && isTypeScript(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    // Node itself refuses TypeScript in packages.
    .filter((path) => !path.split("/").includes("node_modules"))
    .toSorted()
    .slice(0, maxFiles);
  const sources = await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(folder, path), "utf8") })),
  );
  return sources.filter(({ text }) => text.length <= maxFileBytes);
}

/** Tells whether Node takes a file for TypeScript. */
export function isTypeScript(path: string): boolean {
  return /(?<!\.d)\.[cm]?ts$/u.test(path);
}

async function writeStripped(files: readonly Source[], directory: string, cache: string): Promise<void> {
  makeHomeFolder(cache);
  const making = await mkdtemp(join(cache, "making-"));
  // Scripts run as another user.
  await chmod(making, 0o755);
  const made = new Set([making]);
  for (const { path, text } of files) {
    const code = strip(path, text);
    if (code === undefined) continue;
    const target = join(making, `${path}.js`);
    await makeReadableFolders(dirname(target), made);
    await writeFile(target, code);
    await chmod(target, 0o644);
  }
  try {
    await rename(making, directory);
  } catch (cause) {
    await rm(making, { recursive: true, force: true });
    // Another process may have made the same at the same time.
    if (!existsSync(directory)) throw cause;
  }
}

function strip(path: string, text: string): string | undefined {
  return (
    attempt(() => stripTypeScriptTypes(text)) ??
    attempt(() => stripTypeScriptTypes(text, { mode: "transform", sourceMap: true, sourceUrl: `/skill/${path}` }))
  );
}

function attempt(work: () => string): string | undefined {
  const warn = process.emitWarning;
  // Node warns once that this function may change; the caller of a tool can do nothing about it.
  process.emitWarning = () => {};
  try {
    return work();
  } catch {
    return undefined;
  } finally {
    process.emitWarning = warn;
  }
}
