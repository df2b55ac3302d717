import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { SkillFolder } from "../../core/skill.ts";
import { joinGrants, type SkillGrant } from "../../core/skill-grant.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { toDigests } from "../../skills/trust/folder-trust.ts";
import { renderLock, type LockedSkill } from "../../skills/trust/lock-format.ts";
import { isSameSource, lockSkills } from "../../skills/trust/lock-skills.ts";
import { readGrant } from "../../skills/trust/set-grant.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { removedTrust, type TrustList } from "../../skills/trust/trust-format.ts";
import { withFileLock } from "../../platform/file-lock.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { type LoadedCandidate, readShown } from "./import-candidate.ts";
import { makeFolder, previousFolder, trustNothing, type ImportProject } from "./open-project.ts";
import { isNextVersion, landVersion } from "./tool-versions.ts";

/** A skill that is put in its place. */
export interface Landing {
  readonly candidate: LoadedCandidate;
  /** Whether it may run then, in exactly this state. */
  readonly isTrusted: boolean;
  /** What it is granted from outside besides what was granted to it before. @default nothing */
  readonly grants?: SkillGrant;
}

/**
 * Puts skills in their places: all of them, or none. Each appears whole; then it is pinned; then, if it was approved, it is trusted.
 * So whatever happens on the way, nothing runs that was not shown.
 *
 * @throws {KitbagError} `import-failed` if a file is not what was shown, or cannot be written; `config-invalid` if the lock or the list
 *   of what is trusted cannot be used. Then everything is as it was.
 */
export async function landSkills(project: ImportProject, landings: readonly Landing[]): Promise<void> {
  const { reports: others } = await loadSkills({ workingDirectory: project.root, trust: trustNothing });
  const granted = new Map(
    landings.map((landing) => [join(project.root, landing.candidate.place), grantOf(landing, project)]),
  );
  await withProjectLock(project, async () => {
    const stage = makeFolder(project.root, `.kitbag/${stagePrefix}${randomBytes(6).toString("hex")}`);
    const swaps: Swap[] = [];
    const replaced: Replaced[] = [];
    try {
      for (const [index, landing] of landings.entries()) {
        const { candidate } = landing;
        const [draft, old] = [join(stage, `new-${index}`), join(stage, `old-${index}`)];
        const place = join(project.root, candidate.place);
        const isVersion = isNextVersion(candidate);
        const locked = project.findLocked(candidate.place);
        if (!isVersion && candidate.kind === "skill" && candidate.replaces !== undefined)
          replaced.push({ name: candidate.name, place: candidate.place, locked, old });
        if (!isVersion) copyShown(candidate, draft);
        checkUntouched(candidate, place);
        swaps.push(isVersion ? { undo: await landVersion(project, landing, old) } : swap(place, draft, old));
      }
      await pin(project, landings, { others, grants: granted });
      await updateTrust(project.home, (list) => {
        const { folders, grants } = list;
        const known = new Set(folders.keys());
        for (const { name, place } of replaced)
          moveJudgement(list, join(project.root, place), previousOf(project, name));
        for (const { candidate, isTrusted } of landings) {
          const place = join(project.root, candidate.place);
          grants.set(place, granted.get(place) ?? {});
          // Each version of a tool that has some is trusted for itself.
          if (isTrusted && !isNextVersion(candidate)) folders.set(place, toDigests(folderOf(candidate).files));
          else if (known.has(place)) folders.set(place, removedTrust);
        }
      });
      keepReplaced(project, replaced);
    } catch (cause) {
      for (const one of swaps.toReversed()) one.undo();
      throw toFailure(cause, landings);
    } finally {
      rmSync(stage, { recursive: true, force: true });
    }
  });
}

/** What an update has replaced, and where it was put. */
interface Replaced {
  readonly name: string;
  readonly place: string;
  readonly locked: LockedSkill | undefined;
  readonly old: string;
}

/** Everything is in place by now: a version that cannot be kept can only not be brought back. */
function keepReplaced(project: ImportProject, replaced: readonly Replaced[]): void {
  for (const { old, ...one } of replaced) {
    try {
      keepPrevious(project, one, old);
    } catch {
      rmSync(join(project.root, previousFolder, one.name), { recursive: true, force: true });
    }
  }
}

/** The file beside a version that is not live, with its entry in the lock. */
export const noteName = "kitbag.lock";

/**
 * Keeps what an update has replaced (`old`, a folder beside `place`), with its entry in the lock. Of a skill one earlier version is
 * kept. Its trust and grants stay in the person's own list: see {@link moveJudgement}.
 */
function keepPrevious(
  { root }: ImportProject,
  { name, place, locked }: { readonly name: string; readonly place: string; readonly locked: LockedSkill | undefined },
  old: string,
): void {
  const kept = join(root, previousFolder, name);
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  writeNote({ place, kept, locked });
  renameSync(old, join(kept, "files"));
}

/** Gives the trust and the grants of a folder to another one. */
export function moveJudgement({ folders, grants }: TrustList, from: string, to: string): void {
  for (const entries of [folders, grants] as Map<string, unknown>[]) {
    const entry = entries.get(from);
    if (entry === undefined) entries.delete(to);
    else entries.set(to, entry);
    entries.delete(from);
  }
}

/** Where the earlier version of a skill is, absolute. */
function previousOf({ root }: Pick<ImportProject, "root">, name: string): string {
  return join(root, previousFolder, name, "files");
}

/** A version that is not live, the place where it was, and the folder that keeps it. */
interface Note {
  readonly place: string;
  readonly kept: string;
  readonly locked: LockedSkill | undefined;
}

/** Keeps a version's entry in the lock beside it. */
export function writeNote({ place, kept, locked }: Note): void {
  const entries = new Map(locked === undefined ? [] : [[place, locked]]);
  // A project could bring a link of this name.
  rmSync(join(kept, noteName), { force: true });
  writeFileSync(join(kept, noteName), renderLock(entries), { flag: "wx", flush: true });
}

/** What a skill is granted from outside when it is in its place: what was granted to what came from the same source, and what is new. */
function grantOf({ candidate, grants = {} }: Landing, project: ImportProject): SkillGrant {
  const isSame = isSameSource(candidate.source, project.findLocked(candidate.place)?.source);
  const folder = { directory: join(project.root, candidate.place), files: [] };
  return joinGrants([isSame ? readGrant({ ...project, folder }).own : {}, grants]);
}

const stagePrefix = "import-";

/** Does `work` while no other program imports into the project, and first repairs what an interrupted import left. */
export function withProjectLock<Result>(project: ImportProject, work: () => Promise<Result>): Promise<Result> {
  makeFolder(project.root, ".kitbag");
  const path = join(project.root, ".kitbag", "import.lock");
  return withFileLock(path, () => {
    restoreLeft(join(project.root, ".kitbag"));
    return work();
  });
}

/** What was moved away and has nothing in its place goes back there: its name stands beside it. */
function restoreLeft(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(stagePrefix) && one !== "import.lock")) {
    const stage = join(folder, name);
    if (!lstatSync(stage).isDirectory()) continue;
    for (const mark of readdirSync(stage).filter((one) => /^old-\d+\.place$/u.test(one))) {
      const reading = readRegularFile(join(stage, mark), { maxBytes: 4096 });
      const place = reading.ok ? join(dirname(folder), new TextDecoder().decode(reading.bytes)) : undefined;
      const old = join(stage, mark.replace(/\.place$/u, ""));
      const isOurs = place !== undefined && /^[/\\](?:skills|tools)[/\\][^/\\]+$/u.test(place.slice(folder.length));
      if (isOurs && place.startsWith(folder) && existsSync(old) && !existsSync(place)) renameSync(old, place);
    }
    rmSync(stage, { recursive: true, force: true });
  }
}

function folderOf({ report, name }: LoadedCandidate): SkillFolder {
  if (report.skill?.folder !== undefined) return report.skill.folder;
  throw new KitbagError("import-failed", { source: name, reason: "it cannot be used" });
}

/** Writes the files that were shown, each only if its bytes are those that were hashed. */
function copyShown(candidate: LoadedCandidate, draft: string): void {
  const { directory, files } = folderOf(candidate);
  for (const file of files) {
    const shown = readShown(directory, file);
    const to = join(draft, file.path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, shown.bytes, { flag: "wx", flush: true });
    // Not through the mask of the process: what is a program there is one here.
    chmodSync(to, (statSync(shown.path).mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

/** Refuses if what is there has changed since it was compared. */
function checkUntouched({ name, replaces }: LoadedCandidate, place: string): void {
  const isThere = lstatSync(place, { throwIfNoEntry: false }) !== undefined;
  const found = isThere ? readFolder(place, { keepsContents: false, takesMarks: false }).digest : undefined;
  if (found === replaces) return;
  const reason = "what is in its place was changed meanwhile; look at it, and try again";
  throw new KitbagError("import-failed", { source: name, reason });
}

/** One folder that took the place of another. */
interface Swap {
  undo(): void;
}

function swap(place: string, draft: string, old: string): Swap {
  mkdirSync(dirname(place), { recursive: true });
  const hasOld = existsSync(place);
  if (hasOld) {
    writeFileSync(`${old}.place`, place.slice(dirname(dirname(dirname(place))).length + 1), { flush: true });
    renameSync(place, old);
  }
  const undo = (): void => {
    rmSync(place, { recursive: true, force: true });
    if (hasOld) renameSync(old, place);
  };
  try {
    renameSync(draft, place);
  } catch (cause) {
    undo();
    throw cause;
  }
  return { undo };
}

/** Pins what is in place now, read from there: it must be what was shown. */
async function pin(
  project: ImportProject,
  landings: readonly Landing[],
  options: { readonly others: readonly SkillReport[]; readonly grants: ReadonlyMap<string, SkillGrant> },
): Promise<void> {
  const places = landings.map(({ candidate }) => join(project.root, candidate.place));
  const { reports } = await loadSkills({ directories: places, trust: trustNothing });
  const landed = landings.map(({ candidate }, index) => {
    // Of a tool that goes on with its versions the lock says what was fetched: what that becomes here is the forge's.
    if (isNextVersion(candidate)) return withDirectory(candidate.report, places[index] ?? "");
    const report = reports.find(({ directory }) => directory === places[index]);
    if (report?.skill?.folder?.digest !== candidate.digest)
      throw new KitbagError("script-changed", { path: candidate.place });
    return report;
  });
  const sources = new Map(landings.map(({ candidate }, index) => [places[index] ?? "", candidate.source]));
  await lockSkills(landed, project.lockPath, { ...options, sources });
}

function withDirectory(report: SkillReport, directory: string): SkillReport {
  const { skill } = report;
  if (skill?.folder === undefined) return report;
  return { ...report, skill: { ...skill, folder: { ...skill.folder, directory } } };
}

function toFailure(cause: unknown, landings: readonly Landing[]): unknown {
  if (cause instanceof KitbagError && cause.code !== "script-changed") return cause;
  const source = landings.map(({ candidate }) => candidate.name).join(", ");
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KitbagError("import-failed", { source, reason }, { cause });
}
