import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { CodeFolder } from "../../core/script-code.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { skillVersionsFolder } from "../../skills/discovery/find-skills.ts";
import { historyFile, parseHistory } from "../disk/stored-tool.ts";
import type { ToolsFolder } from "../disk/tools-folder.ts";
import type { ForgeEvent } from "../forge-interface.ts";
import type { SkillDraft } from "../tool-draft.ts";
import { compareVersions, isVersion } from "../versions/next-version.ts";

/** A version of a skill that is kept. */
export interface KeptSkill {
  readonly label: string;
  readonly folder: CodeFolder;
}

/** A skill that was made here, as it is on disk. */
export interface StoredSkill {
  readonly name: string;
  /** The folder of the skill. */
  readonly target: string;
  /** The folder with its versions. */
  readonly kept: string;
  /** What is in its folder now; none if there is nothing. */
  readonly live?: CodeFolder;
  /** The oldest first; none if it was not made here. */
  readonly versions: readonly KeptSkill[];
  readonly history: readonly ForgeEvent[];
  /** The version that is in its folder; none if nothing is, or what somebody wrote by hand. */
  readonly current?: KeptSkill;
}

/** The folder with the versions of all skills of a project. */
export function toVersionsFolder({ directory }: Pick<ToolsFolder, "directory">): string {
  return join(directory, ".kitbag", skillVersionsFolder);
}

/** The names of all skills that were made here, sorted. */
export function listMade(folder: ToolsFolder): readonly string[] {
  return listFolders(toVersionsFolder(folder)).filter((name) => !name.startsWith("."));
}

/** Reads what there is of a skill. Never throws for what is on the disk. */
export function readSkill(folder: ToolsFolder, name: string): StoredSkill {
  const target = join(folder.skills, name);
  const kept = join(toVersionsFolder(folder), name);
  const live = toFolder(target);
  const history = readHistory(join(kept, historyFile));
  const versions = listFolders(kept)
    .filter((label) => isVersion(label))
    .toSorted(compareVersions)
    .map((label): KeptSkill => ({ label, folder: toFolder(join(kept, label)) }));
  const last = history.at(-1)?.version;
  const same = versions.filter((version) => version.folder.digest === live.digest);
  const current = same.find(({ label }) => label === last) ?? same.at(-1);
  return {
    name,
    target,
    kept,
    versions,
    history,
    ...(live.files.length > 0 && { live }),
    ...(current !== undefined && { current }),
  };
}

/** The draft that a version was made from; none of what was written by hand. */
export function readSkillDraft({ kept }: StoredSkill, label: string): SkillDraft | undefined {
  try {
    return JSON.parse(readFileSync(join(kept, `${label}.json`), "utf8")) as SkillDraft;
  } catch {
    return undefined;
  }
}

function toFolder(directory: string): CodeFolder {
  return readFolder(directory, { takesMarks: false, keepsContents: false });
}

function listFolders(directory: string): readonly string[] {
  try {
    const found = readdirSync(directory, { withFileTypes: true }).filter((one) => one.isDirectory());
    return found.map(({ name }) => name).toSorted();
  } catch {
    return [];
  }
}

function readHistory(path: string): readonly ForgeEvent[] {
  try {
    return parseHistory(readFileSync(path, "utf8")).history;
  } catch {
    return [];
  }
}
