import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isName, nameRule } from "../../core/names.ts";
import { forgeToolNames, modelToolNames, ownSkillNames } from "../../core/own-tools.ts";

/** The folders of a project that hold made tools and made skills. */
export interface ToolsFolder {
  /** The project. */
  readonly directory: string;
  /** `.kitbag/tools`, absolute. */
  readonly tools: string;
  /** `.kitbag/skills`, absolute. */
  readonly skills: string;
  /** The folder of one tool. @throws {KitbagError} `option-invalid` if `name` is not allowed, or a link leads out of the project */
  toolDirectory(name: string): string;
  /** Makes one of these folders if it does not exist. @throws {KitbagError} as `toolDirectory` */
  ensure(folder: string): void;
  /** The names of all folders of tools, sorted. `strange` has the links, and the folders whose name is not allowed. */
  list(): { readonly names: readonly string[]; readonly strange: readonly string[] };
}

/** Makes a {@link ToolsFolder}. No path that it answers with leads out of the project. */
export function createToolsFolder(directory: string): ToolsFolder {
  const tools = join(directory, ".kitbag", "tools");
  const skills = join(directory, ".kitbag", "skills");

  /** A link on the way to `path` could lead out of the project. */
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

/** Turns a failure to write into a folder without permission into an error that says what to do. Other failures stay as they are. */
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

/** Names that Windows takes for devices, with any ending. */
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/iu;

/** The names of Kitbag's own tools and skills, and "global", which stands for the workspace. */
const reserved: ReadonlySet<string> = new Set([...modelToolNames, ...forgeToolNames, ...ownSkillNames, "global"]);

/** Says why a tool or a skill that is made cannot have this name, which is also the name of its folder; `undefined` if it can. */
export function refuseName(name: unknown): string | undefined {
  if (!isName(name)) return `a name is ${nameRule}${suggest(name)}`;
  if (name.endsWith(".")) return 'a name does not end in ".": some systems drop it';
  if (devices.test(name)) return "some systems take this name for a device; take another one";
  if (reserved.has(name.toLowerCase())) return "Kitbag itself has a tool or skill of this name; take another one";
  return undefined;
}

/** An allowed name that is close to `name`. */
function suggest(name: unknown): string {
  if (typeof name !== "string") return "";
  const plain = name.normalize("NFKD").replaceAll(/\p{Mark}/gu, "");
  const near = plain
    .replaceAll(/[^A-Za-z0-9_.-]+/gu, "-")
    .replaceAll(/^[_.-]+|[_.-]+$/gu, "")
    .slice(0, 64);
  return isName(near) ? `; such as "${near}"` : "";
}

/** Finds another name that differs only in case: on some file systems both are one folder. */
export function findTwin(name: string, taken: Iterable<string>): string | undefined {
  const folded = name.toLowerCase();
  for (const one of taken) if (one !== name && one.toLowerCase() === folded) return one;
  return undefined;
}
