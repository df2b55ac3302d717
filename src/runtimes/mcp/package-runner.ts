import { readFileSync } from "node:fs";
import { basename, join, posix } from "node:path";

import { isRecord } from "../../core/json.ts";
import type { McpProgram } from "../../core/mcp-source.ts";
import type { Dependencies } from "../../packages/install/create-dependencies.ts";
import type { PreparedDependencies } from "../../packages/install/dependency-request.ts";
import { toMcpFailure } from "./connect-server.ts";

/** What `npx` would fetch and run. */
interface PackageRun {
  /** Names and version ranges. */
  readonly packages: Readonly<Record<string, string>>;
  /** The package whose program runs. */
  readonly name: string;
  /** The name of its program; none for the only one, or the one that is called as the package. */
  readonly program: string | undefined;
  readonly args: readonly string[];
}

/** What is started for a server; of one from a package, Node with a file of the installed packages. */
export interface PreparedProgram extends Pick<PreparedDependencies, "mounts" | "environment"> {
  readonly command: string;
  readonly words: readonly string[];
}

/**
 * Installs what `npx` would fetch while it starts: through the package cache, locked, with no network for the server. Any other
 * program, and one that runs without a sandbox, is started as it is.
 *
 * @throws {KitbagError} `dependency-failed`; `mcp-failed` if the words of `npx` are not understood, or the package has no such program.
 */
export async function preparePackages(
  source: McpProgram,
  prepare: Dependencies["prepare"] | undefined,
  signal?: AbortSignal,
): Promise<PreparedProgram> {
  const { command } = source;
  if (prepare === undefined || source.sandbox === "off" || !/^npx(?:\.cmd)?$/u.test(basename(command))) {
    return { command, words: source.args, mounts: [], environment: {} };
  }
  const run = parseNpx(source.args);
  if (typeof run === "string")
    throw toMcpFailure(source, `npx ${source.args.join(" ")} cannot run in the sandbox: ${run}`);
  const { mounts, environment } = await prepare({ language: "node", packages: run.packages }, signal);
  const file = findBin(run, mounts[0]?.source ?? "");
  if (file === undefined) {
    const what = run.program === undefined ? "no program, or several" : `no program "${run.program}"`;
    throw toMcpFailure(source, `the package ${run.name} has ${what}; name one: npx -p ${run.name} <program>`);
  }
  return {
    command: "node",
    mounts,
    environment,
    words: [posix.join(environment["NODE_PATH"] ?? "", file), ...run.args],
  };
}

const harmless: ReadonlySet<string> = new Set([
  "-y",
  "--yes",
  "-q",
  "--quiet",
  "--no-install",
  "--prefer-online",
  "--prefer-offline",
]);

/** Takes the words of `npx` apart, or says what is not possible. */
export function parseNpx(words: readonly string[]): PackageRun | string {
  const read = readOptions(words);
  if (typeof read === "string") return read;
  const [first, ...args] = read.rest;
  if (first === undefined) return "no package is named";
  const specs = read.listed.length === 0 ? [first] : read.listed;
  const packages = new Map<string, string>();
  for (const spec of specs) {
    const [, name, range = "latest"] = /^((?:@[\w.~-]+\/)?[\w~][\w.~-]*)(?:@([\w.^~<>=|* -]+))?$/u.exec(spec) ?? [];
    if (name === undefined) return `${spec} is not a package of the index`;
    packages.set(name, range);
  }
  const [name = ""] = packages.keys();
  const program = read.listed.length === 0 ? undefined : first;
  return { packages: Object.fromEntries(packages), name, program, args };
}

/** The packages that options name, and the words behind the options. */
function readOptions(
  words: readonly string[],
): { readonly listed: string[]; readonly rest: readonly string[] } | string {
  const listed: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) return { listed, rest: words.slice(at) };
    if (word === "--") return { listed, rest: words.slice(at + 1) };
    const [, given] = /^--package=(.+)$/u.exec(word) ?? [];
    if (given !== undefined) listed.push(given);
    else if (word === "-p" || word === "--package") listed.push(words[(at += 1)] ?? "");
    else if (!harmless.has(word)) return `the option ${word} is not known`;
  }
  return { listed, rest: [] };
}

/** The file of a package's program, relative to the packages. */
function findBin({ name, program }: PackageRun, directory: string): string | undefined {
  const manifest: unknown = JSON.parse(readFileSync(join(directory, name, "package.json"), "utf8"));
  const bin: unknown = isRecord(manifest) ? manifest["bin"] : undefined;
  const own = name.slice(name.indexOf("/") + 1);
  const bins = new Map(isRecord(bin) ? Object.entries(bin) : [[own, bin]]);
  const [only] = bins.size === 1 ? bins.values() : [];
  const file = program === undefined ? (only ?? bins.get(own)) : bins.get(program);
  if (typeof file !== "string") return undefined;
  // What leads out of the package is inside the sandbox all the same.
  return posix.join(name, posix.join("/", file));
}
