import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

import type { CodeFolder } from "../../core/script-code.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { skillVersionsFolder } from "../../skills/discovery/find-skills.ts";
import { historyFile, parseHistory } from "../disk/stored-tool.ts";
import type { ToolTrust } from "../disk/tool-writer.ts";
import type { ToolsFolder } from "../disk/tools-folder.ts";
import type { ForgeEvent } from "../forge-interface.ts";
import type { SkillDraft } from "../drafts/tool-draft.ts";
import { compareVersions, isVersion, stepFrom } from "../versions/next-version.ts";
import { KitbagError } from "../../core/errors.ts";
import { toRealPath } from "../../platform/paths.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { appendLine, replaceFolder, writeFileAtomically, type FileMap } from "../../platform/files.ts";

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
  /** The version that is in its folder; none if there is nothing, or files that were edited by hand. */
  readonly current?: KeptSkill;
}

/** The folder with the versions of all skills of a project. */
function toVersionsFolder({ directory }: Pick<ToolsFolder, "directory">): string {
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

/** A step in the life of a skill. */
export interface SkillStep {
  /** As the caller saw it: if it has changed since, nothing is done. */
  readonly before: StoredSkill;
  readonly event: Omit<ForgeEvent, "at">;
  /** The files of a version that is new; without them, one that is kept. */
  readonly files?: FileMap;
  readonly draft?: SkillDraft;
}

/** What skills are written with. */
interface WriterParts {
  readonly folder: ToolsFolder;
  readonly trust: ToolTrust;
}

/**
 * Makes a version the live one: its copy first, then the skill's own folder, which is what counts. An interruption leaves the
 * skill as it was before or as it is afterwards. Only one program does so at a time.
 *
 * @throws {KitbagError} `version-conflict` if another change came first.
 */
export async function writeSkill({ folder, trust }: WriterParts, step: SkillStep): Promise<void> {
  const { before, event, files, draft } = step;
  const copy = join(before.kept, event.version);
  await lockSkill({ folder }, before, async (now) => {
    folder.ensure(folder.skills);
    folder.ensure(before.kept);
    if (files !== undefined) replaceFolder(copy, files);
    if (draft !== undefined)
      writeFileAtomically(`${copy}.json`, toBytes({ ...draft, version: event.version }), { mode: 0o644 });
    const kept = readFolder(copy, { takesMarks: false, keepsContents: false });
    // Trusted before it is there: a watcher of the folder sees it as something that may run.
    await trust.trust([kept, { ...kept, directory: toRealPath(before.target) }]);
    if (now.live?.digest !== kept.digest)
      replaceFolder(before.target, readFiles(kept), join(folder.directory, ".kitbag"));
    addEvent(before, event);
  });
}

/** Does `work` while no other program changes the skill. @throws {KitbagError} `version-conflict` if it is not what it was. */
export async function lockSkill<Result>(
  { folder }: Pick<WriterParts, "folder">,
  before: StoredSkill,
  work: (now: StoredSkill) => Promise<Result>,
): Promise<Result> {
  const root = toVersionsFolder(folder);
  folder.ensure(root);
  return withFileLock(join(realpathSync(root), `.${before.name}.lock`), async () => {
    const now = readSkill(folder, before.name);
    if (now.live?.digest === before.live?.digest && now.current?.label === before.current?.label) return work(now);
    throw toSkillConflict(now, before.current?.label ?? "none");
  });
}

/** Keeps that something happened to a skill. */
export function addEvent({ kept }: StoredSkill, event: Omit<ForgeEvent, "at">): void {
  appendLine(join(kept, historyFile), JSON.stringify({ ...event, at: Date.now() }));
}

/** Keeps files that were edited by hand and trusted as a version, before anything is put in their place. */
export async function keepSkillByHand(parts: WriterParts, stored: StoredSkill, live: CodeFolder): Promise<StoredSkill> {
  const newest = stored.versions.at(-1)?.label ?? "1.0.0";
  const from = stored.history.at(-1)?.version;
  await writeSkill(parts, {
    before: stored,
    event: { type: "update", version: stepFrom(newest, "patch"), ...(from !== undefined && { from }) },
    files: readFiles(live),
  });
  return readSkill(parts.folder, stored.name);
}

/** What an editor is told who saw another version. */
export function toSkillConflict({ name, versions, current }: StoredSkill, expected: string): KitbagError {
  const files = (label: string | undefined): ReadonlyMap<string, string> | undefined => {
    const found = versions.find((one) => one.label === label);
    return found && new Map(found.folder.files.map(({ path, digest }) => [path, digest]));
  };
  const [before, after] = [files(expected), files(current?.label)];
  const paths = before && after ? [...new Set([...before.keys(), ...after.keys()])] : [];
  const changed = paths.filter((path) => before?.get(path) !== after?.get(path)).toSorted();
  return new KitbagError("version-conflict", { address: name, expected, current: current?.label ?? "none", changed });
}

/** The newest of labels. */
export function newestOf(labels: readonly string[]): string | undefined {
  return labels.toSorted(compareVersions).at(-1);
}

function readFiles({ directory, files }: CodeFolder): FileMap {
  return new Map(files.map(({ path }) => [path, readFileSync(join(directory, path))]));
}

function toBytes(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}
