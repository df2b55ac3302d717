import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { toDigests } from "../../skills/trust/folder-trust.ts";
import { describeNew } from "../../skills/trust/hold-to-lock.ts";
import type { LookedAtSkill } from "../config/find-trust-target.ts";

/** A skill as it was at one moment, and what tells later how its files came to change. */
export interface Look {
  readonly skill: LookedAtSkill;
  /** When the reading began, in milliseconds since 1970. */
  readonly takenAt: number;
  /** The moves of the repository that the folder is in, such as the last fetch. */
  readonly moves: string;
}

/** More files than these are not one save of a person. */
const mostFiles = 10;
/** Clocks of file systems are coarse, and editors write a new file a moment before they move it into its place. */
const slackMs = 2000;

/**
 * Says why a change of a skill's folder may not be an edit of the person who runs `kitbag dev`; nothing if it is taken for one. The
 * operating system does not say which program wrote a file. So a change counts as the person's own only if it looks like a save in an
 * editor (a few plain files of the same user, written since the last look, while git moved nothing) and gives the skill no more power.
 */
export function doubtEdit(before: Look, now: Look): string | undefined {
  const { directory, files, code } = now.skill.folder;
  const changed = changedFiles(before.skill, now.skill);
  const wider = describeNew(before.skill.skill.permissions, now.skill.skill.permissions);
  const known = new Set(before.skill.skill.uses.map(({ address }) => address));
  const uses = now.skill.skill.uses.flatMap(({ address }) => (known.has(address) ? [] : [`new: uses ${address}`]));
  if (wider.length + uses.length > 0) return `it asks for more: ${[...wider, ...uses].join(", ")}`;
  if (code !== undefined) return `${code} runs outside of the sandbox, with all your rights`;
  const suspicious = findSuspicious(before.skill, now.skill);
  if (suspicious !== undefined) return suspicious;
  if (before.moves !== now.moves) return "git changed the repository at the same time";
  if (changed.length > mostFiles) return `${changed.length} files changed at once`;
  const there = new Set(files.map(({ path }) => path));
  for (const path of changed) {
    const doubt = there.has(path) ? doubtFile(join(directory, path), before.takenAt) : undefined;
    if (doubt !== undefined) return `${path} ${doubt}`;
  }
  return undefined;
}

/** The files that are new, different or gone. */
export function changedFiles(before: LookedAtSkill, now: LookedAtSkill): readonly string[] {
  const [old, current] = [toDigests(before.folder.files), toDigests(now.folder.files)];
  return [...new Set([...old.keys(), ...current.keys()])].filter((path) => old.get(path) !== current.get(path));
}

function findSuspicious(before: LookedAtSkill, now: LookedAtSkill): string | undefined {
  const known = new Set(before.diagnostics.map(({ code, message }) => `${code} ${message}`));
  const found = now.diagnostics.find(
    (one) => "evidence" in one && one.severity !== "info" && !known.has(`${one.code} ${one.message}`),
  );
  return found === undefined ? undefined : `${found.file}: ${found.message}`;
}

function doubtFile(path: string, since: number): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isFile()) return "is not a plain file";
  if (found.nlink > 1) return "has a second name, which may be outside of the folder";
  if (process.getuid !== undefined && found.uid !== process.getuid()) return "belongs to another user";
  if (process.getuid !== undefined && (found.mode & 0o002) !== 0) return "can be written by every user";
  if (found.mtimeMs < since - slackMs) return "is older than the last look: it was moved or copied into the folder";
  return undefined;
}

/** What git does when it brings in the work of others: it fetches, moves HEAD, and locks its index while it writes files. */
const marks = ["FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "HEAD", "logs/HEAD"];

/** The git folder of the repository that a folder is in; nothing without a repository. */
export function findGitFolder(directory: string): string | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const git = join(folder, ".git");
    if (existsSync(git)) return statSync(git).isDirectory() ? git : linkedGitFolder(git);
    if (dirname(folder) === folder) return undefined;
  }
}

/** A work tree has a file that names its git folder. */
function linkedGitFolder(file: string): string | undefined {
  const [, path] = /^gitdir: (.+)$/mu.exec(readFileSync(file, "utf8")) ?? [];
  return path === undefined ? undefined : join(dirname(file), path);
}

/** The files whose change means that git moves something. */
export function gitMarks(git: string | undefined): readonly string[] {
  return git === undefined ? [] : marks.map((mark) => join(git, mark));
}

/** The moves of a repository until now, as a text to compare; never the same while git is writing files. */
export function readMoves(git: string | undefined): string {
  if (git === undefined) return "";
  const isWriting = existsSync(join(git, "index.lock"));
  const found = gitMarks(git).map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? "-" : `${stats.mtimeMs}:${stats.size}`;
  });
  return `${found.join(" ")}${isWriting ? ` writing at ${Date.now()}` : ""}`;
}
