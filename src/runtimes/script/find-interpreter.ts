import { closeSync, existsSync, openSync, readFileSync, readSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { findProgram } from "../../sandbox/programs.ts";
import type { Mount } from "../../sandbox/sandbox.ts";
import { findByEnding, findFamily } from "./families.ts";
import type { Interpreter } from "./launch.ts";

/** Where Node is inside. */
const nodeInside = "/opt/node";

const mostSteps = 4;

/**
 * Finds the program that runs a script: what its manifest or its first line says, or what is usual for its ending. `folder` holds
 * the bytes of the skill that will run. Code without a script is that program itself.
 *
 * @throws {KitbagError} `interpreter-missing` if it is not on this machine, with how to get it.
 */
export function findInterpreter(tool: Tool, code: ScriptCode, folder: string = code.directory): Interpreter {
  if (code.path === "") return findAlone(tool, code.interpreter);
  const file = join(folder, code.path);
  const isThere = existsSync(file);
  const words = toWords(code.interpreter) ?? (isThere ? readShebang(file) : undefined) ?? findByEnding(code.path);
  if (words !== undefined) return resolve(tool, withoutLaunchers(words, code.path), 0);
  if (isThere && isBinary(file)) return { ...ofSkill(code.path, []), isScript: true };
  const cure = `name one as "interpreter" in scripts/manifest.yml or kitbag.toml, or in a first line with #!`;
  throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: `interpreter for ${code.path}`, cure });
}

/** A program that needs no script, and nothing of what its scripts would need. */
function findAlone(tool: Tool, words: readonly string[]): Interpreter {
  const [name = ""] = words;
  if (findFamily(basename(name)).family === "other" && findHostProgram(name) === undefined) {
    throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: name, cure: "install it" });
  }
  return { ...resolve(tool, words, 0), family: "other", isScript: true };
}

function toWords(interpreter: readonly string[]): readonly string[] | undefined {
  const [first = "", ...rest] = interpreter;
  if (first === "") return undefined;
  // Manifests have one text for a command of several words.
  return rest.length === 0 && !existsSync(first) ? first.split(/\s+/u) : interpreter;
}

/** Package managers that start an interpreter would want the network and a cache; the packages are inside without them. */
function withoutLaunchers(words: readonly string[], path: string): readonly string[] {
  const [program = ""] = words;
  const name = basename(program);
  if (name === "uv" || name === "uvx" || name === "pipx" || name === "poetry") return ["python3"];
  const isPlain = !/\.[jt]sx$/u.test(path);
  if (name === "npx" || ((name === "tsx" || name === "ts-node") && isPlain)) return ["node"];
  return name === "python" ? ["python3", ...words.slice(1)] : words;
}

function resolve(tool: Tool, words: readonly string[], step: number): Interpreter {
  const [name = "", ...argv] = words;
  if (name.startsWith("./") && !name.split("/").includes("..")) return ofSkill(name.slice(2), argv);
  if (/^\.{1,2}\//u.test(name)) {
    const cure = `name a program of this machine, or one of the skill's folder that starts with ./ and has no ..`;
    throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: name, cure });
  }
  const { family, names, cure } = findFamily(basename(name));
  if (family === "node") return ofNode(argv);
  const found = [name, ...names].map(findHostProgram).find((program) => program !== undefined);
  if (found === undefined) {
    throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: basename(name), cure });
  }
  // A program that is itself a script needs what runs it.
  const first = readShebang(found.file);
  if (first === undefined) return { family, argv, ...withoutFile(found) };
  if (step >= mostSteps) {
    const reason = `${quote(found.file)} is a script, and so is what runs it, and so on; name a program instead`;
    throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: basename(name), cure: reason });
  }
  const runner = resolve(tool, first, step + 1);
  return {
    ...runner,
    argv: [...runner.argv, found.program, ...argv],
    mounts: [...runner.mounts, ...found.mounts],
    programs: [...runner.programs, ...found.programs],
  };
}

function withoutFile({ program, mounts, programs }: HostProgram): Omit<HostProgram, "file"> {
  return { program, mounts, programs };
}

function ofNode(argv: readonly string[]): Interpreter {
  const mount = { source: realpathSync(process.execPath), target: nodeInside };
  return { family: "node", program: nodeInside, argv, mounts: [mount], programs: [] };
}

/** A program of the skill's own folder. */
function ofSkill(path: string, argv: readonly string[]): Interpreter {
  return {
    family: "other",
    program: `/skill/${path}`,
    argv,
    mounts: [],
    programs: [],
  };
}

/** A program of this machine, and what it takes to have it inside. */
interface HostProgram {
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
function readShebang(file: string): readonly string[] | undefined {
  const line = /^#!([^\n]{1,300})/u.exec(readStart(file).toString("latin1"))?.[1]?.trim();
  if (line === undefined || line === "") return undefined;
  const [first = "", ...rest] = line.split(/\s+/u);
  if (basename(first) !== "env") return [basename(first), ...rest];
  const words = rest.filter((word, index) => !word.startsWith("-") && !(index < 3 && /^\w+=/u.test(word)));
  return words.length === 0 ? undefined : words;
}

/** Whether a file is a program that the machine itself runs. */
function isBinary(file: string): boolean {
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
