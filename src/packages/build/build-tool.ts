import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { toDigest } from "../../platform/digest.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Dependencies } from "../install/create-dependencies.ts";
import { type BuildCache, createBuildCache } from "./build-cache.ts";
import { checkModule } from "./check-module.ts";
import { compile } from "./compile.ts";
import type { Compiler } from "./compilers/compiler.ts";
import { copySources, type SourceFile } from "./copy-sources.ts";
import { createSearch, findCompiler, toCure } from "./find-compilers.ts";
import { fetchCrates } from "./fetch-crates.ts";
import { isLanguage, type Language, languageNames, languageOf, languages } from "./languages.ts";

/** How far a build has come. */
export interface BuildProgress {
  /** `wait`: another process builds the same at this moment; `fetch`: the crates that it is built of. */
  readonly step: "wait" | "fetch" | "compile";
  readonly compiler: string;
  readonly elapsedMs: number;
}

/** What {@link buildTool} builds, and with what. */
export interface BuildToolOptions {
  /** Where the compiler runs. */
  readonly sandbox: Sandbox;
  /** The skill's folder. */
  readonly directory: string;
  /** The main source file, or a `Cargo.toml` or `go.mod`, relative to the folder. The compiler sees its folder and what is below. */
  readonly source: string;
  /** @default what the name of the source says */
  readonly language?: Language | undefined;
  /** Where the module goes, relative to the folder. */
  readonly output: string;
  /** Where modules are kept that were built before. */
  readonly cacheDirectory: string;
  /** Folders in whose `node_modules`, or above, compilers may be installed. @default none but Kitbag's own */
  readonly packagesFrom?: readonly string[];
  /** What fetches the crates of a Rust package. @default nothing: they must be in the package */
  readonly dependencies?: Dependencies | undefined;
  /** How long the compiler may take. @default 300_000 */
  readonly limitMs?: number;
  /** How large the module may be. @default 16 MiB */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: BuildProgress) => void;
}

/** A module that was built. */
export interface BuiltTool {
  /** `current`: the file has these very bytes already; `cached`: the module was built before, and is written again. */
  readonly status: "built" | "cached" | "current";
  readonly language: Language;
  readonly compiler: string;
  readonly version: string;
  readonly output: string;
  readonly bytes: number;
  /** Of the module: `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
}

/** Changes when modules that were built before must not be used any more. */
const cacheFormat = 1;

/**
 * Compiles a tool into a WASI command module: it reads JSON from standard input and writes JSON to standard output. The compiler
 * runs in the sandbox, without network; it sees a copy of the sources, and only a module comes out. The crates of a Rust package are
 * fetched before, by Cargo, which reaches only the package index. What was built once of the same sources by the same compiler is not
 * built again; two who want the same at a time build it once.
 *
 * @throws {KitbagError} `compiler-missing` if there is no compiler for the language; `build-failed` with what the compiler said;
 *   `dependency-refused` and `dependency-failed` for crates; `option-invalid` for paths that leave the folder; what the sandbox throws.
 */
export async function buildTool(options: BuildToolOptions): Promise<BuiltTool> {
  const source = checkPath("source", options.source);
  const output = checkOutput(options.output);
  const language = toLanguage(source, options.language);
  const work = openWork();
  try {
    const files = copySources({ directory: options.directory, source, target: work.skill });
    const compiler = await findCompiler(language, createSearch(options.sandbox, options.packagesFrom));
    if (compiler === undefined) {
      throw new KitbagError("compiler-missing", { source, language: languageNames[language], cure: toCure(language) });
    }
    const cache = createBuildCache(options.cacheDirectory);
    const key = toKey(source, compiler, files);
    const job: Job = { options, source, compiler, work, key, cache };
    const kept = cache.get(key);
    const write = (module: Uint8Array): Written => ({
      module,
      isNew: writeModule({ directory: options.directory, output }, module),
    });
    const { module, isNew } = kept ? write(kept) : await inCache(source, () => buildOnce(job, write));
    const made = kept === undefined ? "built" : "cached";
    const status = isNew ? made : "current";
    return { status, language, ...describe(compiler), output, bytes: module.length, digest: toDigest(module) };
  } finally {
    work.remove();
  }
}

interface Job {
  readonly options: BuildToolOptions;
  readonly source: string;
  readonly compiler: Compiler;
  readonly work: Work;
  readonly key: string;
  readonly cache: BuildCache;
}

/** A module, and whether it was not in its place yet. */
interface Written {
  readonly module: Uint8Array;
  readonly isNew: boolean;
}

/** Builds the module and writes it, while no other program builds the same one; what another one has built meanwhile is in its place. */
async function buildOnce(job: Job, write: (module: Uint8Array) => Written): Promise<Written> {
  const { options, source, compiler, cache, key } = job;
  const start = performance.now();
  let step: BuildProgress["step"] = "compile";
  const report = (next: BuildProgress["step"]): void => {
    step = next;
    options.onProgress?.({ step, compiler: compiler.program, elapsedMs: Math.round(performance.now() - start) });
  };
  const build = async (): Promise<Written> => {
    const kept = cache.get(key);
    if (kept !== undefined) return write(kept);
    const crates = await fetchCrates(job, () => report("fetch"));
    report("compile");
    const module = await compile({ ...job, crates });
    const wrong = checkModule(module);
    if (wrong !== undefined) {
      const reason = `what ${compiler.program} made is no tool: ${wrong}`;
      throw new KitbagError("build-failed", { source, reason, lines: [] });
    }
    const written = write(module);
    cache.put(key, module);
    return written;
  };
  const ticking = setInterval(() => report(step), 1000);
  try {
    return await cache.withLock(key, build, { signal: options.signal, onWait: () => report("wait") });
  } finally {
    clearInterval(ticking);
  }
}

/** What keeps the cache from working is told with its cause; the rest is not touched. */
async function inCache<Result>(source: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (isKitbagError(cause) || typeof code !== "string" || !/^E[A-Z]+$/u.test(code)) throw cause;
    const reason = `the folder of modules that were built before cannot be used: ${(cause as Error).message}`;
    throw new KitbagError("build-failed", { source, reason, lines: [] }, { cause });
  }
}

/** Folders on this machine for one build. */
export interface Work {
  /** The copy of the sources. */
  readonly skill: string;
  /** For what is written without a sandbox, which has no place of its own then. */
  readonly scratch: string;
  remove(): void;
}

function openWork(): Work {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-build-")));
  // The compiler may be another user, who must pass through here.
  chmodSync(base, 0o711);
  const [skill, scratch] = [join(base, "skill"), join(base, "scratch")];
  for (const folder of [skill, scratch]) mkdirSync(folder);
  return { skill, scratch, remove: () => rmSync(base, { recursive: true, force: true }) };
}

function checkOutput(given: string): string {
  const output = checkPath("output", given);
  if (output.endsWith(".wasm")) return output;
  throw new KitbagError("option-invalid", {
    option: "output",
    found: JSON.stringify(given),
    expected: "a name that ends with .wasm",
  });
}

function toLanguage(source: string, given: string | undefined): Language {
  const language = given ?? languageOf(source);
  if (isLanguage(language)) return language;
  throw new KitbagError("option-invalid", {
    option: "language",
    found: language === undefined ? `nothing, and the name "${source}" does not tell` : JSON.stringify(language),
    expected: `one of ${languages.join(", ")}`,
  });
}

function toKey(source: string, compiler: Compiler, files: readonly SourceFile[]): string {
  const place = { directory: "/skill", source, output: "/tmp/out.wasm", scratch: "/tmp" };
  const facts = [cacheFormat, source, compiler.version, compiler.identity, compiler.toCommand(place), files];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

function describe({ program, version }: Compiler): Pick<BuiltTool, "compiler" | "version"> {
  return { compiler: program, version };
}

/**
 * Brings a path of a skill's folder to its shortest form.
 *
 * @throws {KitbagError} `option-invalid` if it is not a path below the folder.
 */
function checkPath(option: string, path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isBelow = !path.startsWith("/") && parts.length > 0 && !parts.includes("..") && !path.includes("\0");
  if (isBelow) return parts.join("/");
  throw new KitbagError("option-invalid", {
    option,
    found: JSON.stringify(path),
    expected: "a path of a file in the skill's folder, relative to it",
  });
}

/** Where a module goes. */
interface ModulePlace {
  /** The skill's folder. */
  readonly directory: string;
  /** Relative to it, as {@link checkPath} makes it. */
  readonly output: string;
}

/**
 * Writes a module into a skill's folder, whole or not at all, unless it is there already; answers whether it was not. A link in
 * its place is replaced, not followed.
 *
 * @throws {KitbagError} `build-failed` if a folder on the way is a link, or cannot be written.
 */
function writeModule({ directory, output }: ModulePlace, module: Uint8Array): boolean {
  const root = realpathSync(directory);
  const path = join(root, output);
  try {
    makeFolders(root, dirname(output));
    if (isSame(path, module)) return false;
    writeFileAtomically(path, module, { mode: 0o644 });
    return true;
  } catch (cause) {
    const reason = `the module cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new KitbagError("build-failed", { source: output, reason, lines: [] }, { cause });
  }
}

function isSame(path: string, module: Uint8Array): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === module.length && readFileSync(path).equals(module);
}

/** Not through links: files of others may be in the folder, and lead us out of it. */
function makeFolders(root: string, way: string): void {
  let folder = root;
  for (const name of way === "." ? [] : way.split("/")) {
    folder = join(folder, name);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(folder);
    else if (!found.isDirectory()) throw new Error(`${name} is a link, or not a folder`);
  }
}
