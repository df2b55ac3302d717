import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isName, nameRule } from "../../core/names.ts";
import { forgeToolNames, modelToolNames, ownSkillNames } from "../../core/own-tools.ts";

/** Where the tools of a project are, and their neighbours. */
export interface ToolsFolder {
  /** The project. */
  readonly directory: string;
  /** `.kitbag/tools`, absolute. */
  readonly tools: string;
  /** `.kitbag/skills`, absolute. */
  readonly skills: string;
  /** The folder of one tool. @throws {KitbagError} `option-invalid` if it is no name, or a link leads away from here */
  toolDirectory(name: string): string;
  /** Makes sure that the folder of tools, or another one of ours, is there. @throws {KitbagError} as `toolDirectory` */
  ensure(folder: string): void;
  /** The names of all folders of tools, sorted. What has no name of a tool, or is a link, is in `strange`. */
  list(): { readonly names: readonly string[]; readonly strange: readonly string[] };
}

/** Names the folders of a project's tools. Nothing of it leads out of the project. */
export function createToolsFolder(directory: string): ToolsFolder {
  const tools = join(directory, ".kitbag", "tools");
  const skills = join(directory, ".kitbag", "skills");

  /** Links on the way could lead anywhere. */
  function refuseLinks(path: string): void {
    const steps = relative(directory, path).split(sep);
    for (let count = 1; count <= steps.length; count++) {
      const step = join(directory, ...steps.slice(0, count));
      const found = lstatSync(step, { throwIfNoEntry: false });
      if (found === undefined) return;
      if (found.isDirectory()) continue;
      const what = found.isSymbolicLink() ? "a symbolic link" : "a file";
      const expected = "a folder: nothing is written anywhere else";
      throw new KitbagError("option-invalid", { option: step, found: what, expected });
    }
  }

  return {
    directory,
    tools,
    skills,
    toolDirectory(name) {
      const reason = refuseName(name);
      if (reason !== undefined) {
        throw new KitbagError("option-invalid", { option: "name", found: JSON.stringify(name), expected: reason });
      }
      const path = join(tools, name);
      refuseLinks(path);
      return path;
    },
    ensure(folder) {
      refuseLinks(folder);
      try {
        mkdirSync(folder, { recursive: true });
      } catch (cause) {
        throw explainUnwritable(folder, cause);
      }
    },
    list() {
      const names: string[] = [];
      const strange: string[] = [];
      for (const entry of listFolder(tools)) {
        if (entry.name.startsWith(".") || entry.isFile()) continue;
        if (entry.isDirectory() && refuseName(entry.name) === undefined) names.push(entry.name);
        else strange.push(entry.name);
      }
      return { names: names.toSorted(), strange: strange.toSorted() };
    },
  };
}

/** What a person can do about a folder in which nothing may be written; any other failure as it is. */
export function explainUnwritable(folder: string, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") return cause;
  const found = "a place where nothing may be written";
  const expected = "a folder of yours: change its permissions, or make tools in another project";
  return new KitbagError("option-invalid", { option: folder, found, expected }, { cause });
}

function listFolder(path: string): ReturnType<typeof readEntries> {
  try {
    // A link in the place of the whole folder is not followed.
    return lstatSync(path).isDirectory() ? readEntries(path) : [];
  } catch {
    return [];
  }
}

function readEntries(path: string) {
  return readdirSync(path, { withFileTypes: true });
}

/** Names that systems take for devices, whatever ending they have. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu;

/** Tools that are always there for a model, and the workspace itself. */
const reserved: ReadonlySet<string> = new Set([...modelToolNames, ...forgeToolNames, ...ownSkillNames, "global"]);

/** Why `name` cannot be the name of a tool or a skill that is made, and of its folder; nothing if it can. */
export function refuseName(name: unknown): string | undefined {
  if (!isName(name)) return `a name is ${nameRule}${suggest(name)}`;
  if (name.endsWith(".")) return 'a name does not end in ".": some systems drop it';
  if (devices.test(name)) return "some systems take this name for a device; take another one";
  if (reserved.has(name.toLowerCase())) return "Kitbag itself has a tool or skill of this name; take another one";
  return undefined;
}

/** A name that is nearly the one that was meant. */
function suggest(name: unknown): string {
  if (typeof name !== "string") return "";
  const plain = name.normalize("NFKD").replaceAll(/\p{Mark}/gu, "");
  const near = plain
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "-")
    .replaceAll(/^[_.-]+|[_.-]+$/gu, "")
    .slice(0, 64);
  return isName(near) ? `; such as "${near}"` : "";
}

/** Finds a name that is the same folder where case does not count, but not the same name. */
export function findTwin(name: string, taken: Iterable<string>): string | undefined {
  const folded = name.toLowerCase();
  for (const one of taken) if (one !== name && one.toLowerCase() === folded) return one;
  return undefined;
}
