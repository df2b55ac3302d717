import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join, posix, sep } from "node:path";

import { parse } from "smol-toml";

import { describeCause, KitbagError } from "../../core/errors.ts";
import type { ListedDependencies } from "../../core/script-code.ts";
import { findImportedNode, findImportedPython, type ReadText } from "./find-imported.ts";
import type { DependencyRequest, NodeRequest, PythonRequest } from "./dependency-request.ts";
import { parsePackageJson, parsePackageList } from "./node/parse-packages.ts";
import {
  parseRequirementList,
  type Requirement,
  parseRequirements,
  type Requirements,
} from "./python/parse-requirement.ts";

/** A script of a skill, and how it is run. */
export interface ScriptPlace {
  /** The folder as it runs: a snapshot of the bytes that were checked. */
  readonly directory: string;
  /** The script, relative to the folder. */
  readonly path: string;
  /** The interpreter of a Python script: absolute, symbolic links resolved. Missing for a script that Node runs. */
  readonly python?: string;
  /** What the manifest lists. */
  readonly dependencies?: ListedDependencies | undefined;
}

const largestFile = 1024 * 1024;
const manifest = "kitbag.toml";

/**
 * Finds out which packages a script needs: those that the manifest lists, and those of the block in the script itself, or else of the
 * nearest file for that in its folder or above (`requirements.txt`, `pyproject.toml`; `package.json`). What is listed for the whole skill
 * is not for a script that imports only what it brings along.
 *
 * @throws {KitbagError} `dependency-refused` if something is asked for that is not possible.
 */
export function loadDependencyRequest({ directory, path, python, dependencies = {} }: ScriptPlace): DependencyRequest {
  const read = (file: string): string | undefined => readText(directory, file);
  return python === undefined ? toNode(path, read, dependencies) : toPython({ path, read, python }, dependencies);
}

function toNode(path: string, read: ReadText, { npm = [] }: ListedDependencies): NodeRequest {
  const nearest = findNearest(path, ["package.json"], read);
  const own = nearest === undefined ? {} : parsePackageJson(nearest.text, nearest.file);
  const packages = { ...own, ...parsePackageList(npm, manifest) };
  const { names, isNone } = findImportedNode(path, read, Object.keys(packages));
  return isNone ? { language: "node", packages: {} } : { language: "node", packages, imported: names };
}

interface PythonScript {
  readonly path: string;
  readonly read: ReadText;
  readonly python: string;
}

function toPython({ path, read, python }: PythonScript, { python: listed = [] }: ListedDependencies): PythonRequest {
  const inline = parseInlineScript(read(path) ?? "", path);
  const files = inline === undefined ? fromFiles(path, read) : { requirements: [], constraints: [] };
  const shared = [...files.requirements, ...parseRequirementList(listed, manifest)];
  const { names, isNone } = findImportedPython(
    path,
    read,
    shared.map(({ name }) => name),
  );
  const own = inline?.requirements ?? [];
  return {
    language: "python",
    python,
    requirements: isNone ? own : [...own, ...shared],
    constraints: isNone ? [] : files.constraints,
    requiresPython: inline?.requiresPython ?? "",
    imported: [...own.map(({ name }) => name), ...names],
  };
}

function fromFiles(path: string, read: ReadText): Requirements {
  const nearest = findNearest(path, ["requirements.txt", "pyproject.toml"], read);
  if (nearest === undefined) return { requirements: [], constraints: [] };
  if (nearest.file.endsWith(".txt")) return parseRequirements(nearest.file, read);
  return { requirements: parseRequirementList(projectPackages(nearest), nearest.file), constraints: [] };
}

interface TextFile {
  readonly file: string;
  readonly text: string;
}

function findNearest(path: string, names: readonly string[], read: ReadText): TextFile | undefined {
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    for (const name of names) {
      const file = posix.join(folder, name);
      const text = read(file);
      if (text !== undefined) return { file, text };
    }
    if (folder === "." || folder === "/") return undefined;
  }
}

function projectPackages({ file, text }: TextFile): readonly unknown[] {
  try {
    const { project = {} } = parse(text) as { project?: { dependencies?: unknown } };
    return Array.isArray(project.dependencies) ? project.dependencies : [];
  } catch (cause) {
    const reason = `it is not TOML: ${describeCause(cause, 200)}`;
    throw new KitbagError("dependency-refused", { dependency: file, file, reason });
  }
}

/** The text of a file in the folder; nothing for what is outside, or no file. */
function readText(directory: string, file: string): string | undefined {
  const path = join(directory, file);
  try {
    if (file.startsWith("/") || !lstatSync(path).isFile()) return undefined;
    if (!realpathSync(path).startsWith(realpathSync(directory) + sep)) return undefined;
  } catch {
    return undefined;
  }
  const bytes = readFileSync(path);
  if (bytes.length <= largestFile) return bytes.toString("utf8");
  throw new KitbagError("dependency-refused", {
    dependency: file,
    file,
    reason: `it is larger than ${largestFile} bytes`,
  });
}

/** What the block at the top of a script asks for. */
interface InlineScript {
  readonly requirements: readonly Requirement[];
  /** The versions of Python that it runs with; empty for any. */
  readonly requiresPython: string;
}

const opening = /^# \/\/\/ script[ \t]*$/u;
const longestBlock = 500;

/**
 * Reads the block of a script (`# /// script`) that names its packages; undefined if it has none.
 *
 * @throws {KitbagError} `dependency-refused` if the block, or a package in it, cannot be used.
 */
export function parseInlineScript(text: string, file: string): InlineScript | undefined {
  const block = findBlock(text, file);
  if (block === undefined) return undefined;
  const { dependencies = [], "requires-python": requiresPython = "" } = parseBlock(block, file);
  if (!Array.isArray(dependencies)) throw refused("dependencies", file, "it is not a list of texts");
  const requirements = parseRequirementList(dependencies, file);
  return { requirements, requiresPython: typeof requiresPython === "string" ? requiresPython : "" };
}

function findBlock(text: string, file: string): string | undefined {
  const lines = text.split(/\r?\n/u);
  const starts = lines.flatMap((line, index) => (opening.test(line) ? [index] : []));
  const [start, second] = starts;
  if (start === undefined) return undefined;
  const rest = lines.slice(start + 1, start + 1 + longestBlock);
  const end = rest.findIndex((line) => !/^#(?: |$)/u.test(line));
  const comment = end === -1 ? rest : rest.slice(0, end);
  const close = comment.lastIndexOf("# ///");
  if (close === -1) throw refused("# /// script", file, 'its block does not end with "# ///"');
  if (second !== undefined && second > start + close + 1) {
    throw refused("# /// script", file, "there is more than one block of this kind");
  }
  return comment
    .slice(0, close)
    .map((line) => line.slice(2))
    .join("\n");
}

function parseBlock(block: string, file: string): Record<string, unknown> {
  try {
    return parse(block);
  } catch (cause) {
    throw refused("# /// script", file, `its block is not TOML: ${describeCause(cause, 200)}`);
  }
}

function refused(dependency: string, file: string, reason: string): KitbagError<"dependency-refused"> {
  return new KitbagError("dependency-refused", { dependency, file, reason });
}
