import { closeSync, existsSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative } from "node:path";

import { findProgram } from "../../sandbox/programs.ts";
import type { Mount } from "../../sandbox/sandbox.ts";

/** A program of this machine, and what it takes to have it inside. */
export interface HostProgram {
  /** Its path inside. */
  readonly program: string;
  readonly mounts: readonly Mount[];
  /** Programs of the system to ask the sandbox for. */
  readonly programs: readonly string[];
  /** The file on this machine. */
  readonly file: string;
}

/** Directories whose programs the sandbox can offer by name. */
const systemDirectories = new Set(["/usr/bin", "/bin", "/usr/sbin", "/sbin"]);

/**
 * Finds a program and says how to have it inside: one of the system by its name, another one with the libraries of its own
 * prefix. A shim of pyenv, rbenv or nodenv is followed to the version that it stands for.
 */
export function findHostProgram(name: string): HostProgram | undefined {
  const found = findProgram(name);
  if (found === undefined) return undefined;
  const path = basename(dirname(found)) === "shims" ? followShim(found) : found;
  if (path === undefined) return undefined;
  const file = realpathSync(path);
  if (systemDirectories.has(dirname(path)) && systemDirectories.has(dirname(file))) {
    return { program: join("/usr/bin", basename(path)), mounts: [], programs: [path], file };
  }
  // Whatever is in the libraries of the system is inside already.
  if (/^\/usr\/(?:lib|lib32|lib64|libexec|share)\//u.test(file)) {
    return { program: file, mounts: [], programs: [], file };
  }
  return { program: file, mounts: toMounts(file), programs: [], file };
}

/** The program that a shim starts: the one of the version that is set for everybody. */
function followShim(shim: string): string | undefined {
  const root = dirname(dirname(shim));
  const versions = readVersions(join(root, "version"));
  return versions.map((version) => join(root, "versions", version, "bin", basename(shim))).find(existsSync);
}

function readVersions(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8")
      .split(/\s+/u)
      .filter((version) => /^[\w.+-]+$/u.test(version) && version !== "system");
  } catch {
    return [];
  }
}

/** Parts of a prefix that a program of it may need; not its `bin`, which holds other programs. */
const parts = ["lib", "lib64", "libexec", "share"];

function toMounts(file: string): readonly Mount[] {
  const own: Mount = { source: file, target: file };
  const folder = dirname(file);
  // Programs of Homebrew use the libraries of their neighbours.
  const brew = /^(.*\/(?:\.linuxbrew|homebrew))\//u.exec(file)?.[1];
  if (brew !== undefined) return [{ source: brew, target: brew }];
  if (basename(folder) !== "bin") return isBroad(folder) ? [own] : [{ source: folder, target: folder }];
  const prefix = dirname(folder);
  if (isBroad(prefix)) return [own];
  const folders = parts.map((name) => join(prefix, name)).filter((path) => existsSync(path));
  return [own, ...folders.map((path) => ({ source: path, target: path }))];
}

/** Whether a directory holds far more than one program: the home directory, or what is above it or shared in it. */
function isBroad(directory: string): boolean {
  const home = homedir();
  const toHome = relative(directory, home);
  const isAbove = toHome === "" || (!toHome.startsWith("..") && !isAbsolute(toHome));
  return isAbove || directory === join(home, ".local") || ["/", "/opt", "/usr", "/srv", "/tmp"].includes(directory);
}

/** The command in the first line of a file that starts with `#!`; nothing for any other file. */
export function readShebang(file: string): readonly string[] | undefined {
  const line = /^#!([^\n]{1,300})/u.exec(readStart(file).toString("latin1"))?.[1]?.trim();
  if (line === undefined || line === "") return undefined;
  const [first = "", ...rest] = line.split(/\s+/u);
  if (basename(first) !== "env") return [basename(first), ...rest];
  const words = rest.filter((word, index) => !word.startsWith("-") && !(index < 3 && /^\w+=/u.test(word)));
  return words.length === 0 ? undefined : words;
}

/** Whether a file is a program that the machine itself runs. */
export function isBinary(file: string): boolean {
  return readStart(file).subarray(0, 4).equals(Buffer.from("\u007FELF", "latin1"));
}

function readStart(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(512);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}
