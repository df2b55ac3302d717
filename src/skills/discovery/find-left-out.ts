import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import { showPath, toRealPath } from "../../platform/paths.ts";
import { isIgnoredFolder } from "../folder/ignored-names.ts";
import { type FindOptions, homeFolders, keptFolders, projectFolders, searchLimits } from "./find-skills.ts";
import { isSkillFile } from "./is-skill.ts";

/** A folder with a SKILL.md that is no skill of its own, and the reason. */
export interface LeftOut {
  readonly path: string;
  readonly diagnostic: Diagnostic;
}

/** Every SKILL.md below the folders that are searched. */
export interface SkillFileCount {
  /** How many there are, as `find -name SKILL.md` counts them. */
  readonly files: number;
  /** Those that no skill was made of, nor a report that says why. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * Counts the files SKILL.md below the folders that {@link findSkills} searches, also where it does not look, so that none is left
 * out without a word. `skills` are the folders, with links resolved, that have a report.
 *
 * Contract: never throws for what is on the disk; follows no links; leaves out `.git`.
 */
export function findLeftOut(options: FindOptions, skills: ReadonlySet<string>): SkillFileCount {
  const roots = [
    ...(options.directories ?? []).map((path) => (isSkillFile(basename(path)) ? dirname(path) : path)),
    ...projectFolders(options.workingDirectory, options.homeDirectory),
    ...homeFolders(options.homeDirectory),
  ];
  const count: Count = { files: 0, leftOut: [], seen: new Set(), skills };
  for (const path of roots) walk(count, { path, directory: toRealPath(path), steps: [] });
  return { files: count.files, leftOut: count.leftOut };
}

interface Count {
  files: number;
  readonly leftOut: LeftOut[];
  readonly seen: Set<string>;
  readonly skills: ReadonlySet<string>;
}

interface Folder {
  readonly path: string;
  readonly directory: string;
  readonly steps: readonly string[];
  /** The nearest folder above it that is a skill. */
  readonly skill?: string;
}

function walk(count: Count, folder: Folder): void {
  const { path, directory, steps } = folder;
  if (count.seen.has(directory)) return;
  count.seen.add(directory);
  const isKnown = count.skills.has(directory);
  const inside = isKnown ? { ...folder, skill: path } : folder;
  for (const item of list(directory)) {
    if (item.isDirectory()) {
      if (item.name === ".git") continue;
      const [next, real] = [join(path, item.name), join(directory, item.name)];
      walk(count, { ...inside, path: next, directory: real, steps: [...steps, item.name] });
    } else if (item.name === "SKILL.md") {
      count.files += 1;
      if (!isKnown) count.leftOut.push({ path, diagnostic: explain(folder) });
    }
  }
}

function list(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // That it cannot be read was said by the search.
    return [];
  }
}

function explain({ path, steps, skill }: Folder): Diagnostic {
  const found = (code: string, reason: string, cure?: string): Diagnostic => {
    const message = `Not a skill of its own: ${reason}`;
    return { severity: "info", code, message, file: "SKILL.md", ...(cure !== undefined && { cure }) };
  };
  const name = "name its folder, and it is read as a skill";
  const ignored = steps.find((step) => isIgnoredFolder(step) && step !== ".kitbag");
  if (ignored !== undefined) return found("skill-ignored", `nothing in ${ignored} is one`);
  if (steps.some((step, index) => steps[index - 1] === ".kitbag" && keptFolders.has(step)))
    return found("skill-kept", "it was removed, or is an earlier version, and is kept to be put back");
  if (skill !== undefined) {
    const inside = relative(skill, path).split(sep).join("/");
    return found("skill-nested", `${showPath(inside)} is a part of the skill ${showPath(basename(skill))}`, name);
  }
  if (steps.length > searchLimits.depth)
    return found("skill-deep", `it is more than ${searchLimits.depth} folders deep`, name);
  return found("skill-unreached", "the search ended before it, or may not read its folder", name);
}
