import { existsSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";
import { findByEnding, findFamily } from "./families.ts";
import { findHostProgram, isBinary, readShebang, type HostProgram } from "./host-program.ts";
import type { Interpreter } from "./interpreter.ts";

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
