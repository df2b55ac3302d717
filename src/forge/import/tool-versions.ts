import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { SkillFile } from "../../core/skill.ts";
import { toFolderDigest } from "../../platform/digest.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { LockedSkill, LockedSource } from "../../skills/trust/lock-format.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import type { FileMap } from "../../platform/files.ts";
import { manifestFile } from "../disk/manifest.ts";
import { createToolReader, isOwnPath, type StoredTool } from "../disk/stored-tool.ts";
import { createToolTrust, createToolWriter } from "../disk/tool-writer.ts";
import { createToolsFolder, refuseName } from "../disk/tools-folder.ts";
import { keepByHand } from "../find-base.ts";
import { compareTools } from "../versions/compare-tools.ts";
import { compareVersions, isVersion, stepFrom } from "../versions/next-version.ts";
import { diffSkills, type LoadedCandidate, readShown } from "./import-candidate.ts";
import type { ImportProject } from "./open-project.ts";

/** A tool that was fetched, and what the project has in its place. */
export interface ToolPair {
  readonly name: string;
  readonly place: string;
  readonly there: SkillReport;
  readonly fetched: SkillReport;
  readonly source: LockedSource;
}

type Compared = Pick<LoadedCandidate, "state" | "difference" | "changedHere">;

/**
 * Compares a tool with what the project has in its place, without what the forge keeps beside it. One whose source is what it was when
 * it was added is the same, whatever became of it here.
 */
export async function compareTool(pair: ToolPair, project: ImportProject): Promise<Compared> {
  const { name, place, there, fetched, source } = pair;
  const stored = createToolReader()(name, join(project.root, place));
  const locked = project.findLocked(place);
  const isImported = locked?.source !== undefined;
  const changedHere = isImported && isChangedHere(stored, locked.files) ? { changedHere: true } : {};
  const found = await diffSkills(withoutOwn(there), withoutOwn(fetched));
  const version = { from: stored.current?.label ?? "none", to: toNextLabel(stored, there, fetched) };
  const difference = { ...found, version };
  if (isImported && isUnmoved(locked, fetched, source)) return { state: "same", ...changedHere, difference };
  return { state: isImported ? "changed" : "taken", ...changedHere, difference };
}

function withoutOwn(report: SkillReport): SkillReport {
  const { skill } = report;
  if (skill?.folder === undefined) return report;
  const files = skill.folder.files.filter(({ path }) => !isOwnPath(path));
  return { ...report, skill: { ...skill, folder: { ...skill.folder, files, digest: toFolderDigest(files) } } };
}

/** Whether it was edited after it was added or updated: what was fetched last is not the live version. */
function isChangedHere({ current, history, files }: StoredTool, locked: Digests): boolean {
  if (history.length === 0) return !isSameFiles(files, locked);
  const fetched = history.findLast(({ source }) => source !== undefined) ?? history[0];
  return current?.isKept !== true || current.label !== fetched?.version;
}

function isSameFiles(files: readonly SkillFile[], locked: Digests): boolean {
  const own = files.filter(({ path }) => !isOwnPath(path));
  const pinned = [...locked.keys()].filter((path) => !isOwnPath(path));
  return own.length === pinned.length && own.every(({ path, digest }) => locked.get(path) === digest);
}

function isUnmoved(locked: LockedSkill, { skill }: SkillReport, { commit, integrity }: LockedSource): boolean {
  const before = locked.source;
  if (commit !== undefined && commit === before?.commit) return true;
  if (integrity !== undefined && integrity === before?.integrity) return true;
  return isSameFiles(skill?.folder?.files ?? [], locked.files);
}

/** What its author calls it, if that is newer than all that is here; else the next after these. */
function toNextLabel({ labels, current }: StoredTool, there: SkillReport, fetched: SkillReport): string {
  const taken = [...labels, ...(current === undefined ? [] : [current.label])];
  const newest = taken.toSorted(compareVersions).at(-1);
  const [before, after] = [there.skill?.tools[0], fetched.skill?.tools[0]];
  const own = fetched.skill?.version ?? after?.version;
  if (newest === undefined) return isVersion(own) ? own : "1.0.0";
  if (isVersion(own) && compareVersions(own, newest) > 0) return own;
  const step = before === undefined || after === undefined ? "major" : compareTools(before, after).step;
  return stepFrom(newest, step);
}

/** Tells whether a candidate becomes a version of a tool that is there. Where both are the same, nothing is a version. */
export function isNextVersion({ kind, name, replaces, digest }: LoadedCandidate): boolean {
  return kind === "tool" && replaces !== undefined && replaces !== digest && refuseName(name) === undefined;
}

/** What is landed as a version. */
export interface VersionLanding {
  readonly candidate: LoadedCandidate;
  readonly isTrusted: boolean;
}

/**
 * Makes what was fetched the next version of a tool that is there: what was live before is kept as one, and can be rolled back to.
 * `copy` is where the folder is kept meanwhile, until the answer is called, which puts it back.
 */
export async function landVersion(
  project: ImportProject,
  { candidate, isTrusted }: VersionLanding,
  copy: string,
): Promise<() => void> {
  const { name, place, difference, source } = candidate;
  const folder = createToolsFolder(project.root);
  const [trust, read] = [createToolTrust({ home: project.home }), createToolReader()];
  const writer = createToolWriter(folder, trust, read);
  const directory = join(project.root, place);
  if (candidate.state === "same" && candidate.changedHere !== true) {
    // It is what was fetched already, under a label of its own.
    const { current } = read(name, directory);
    if (isTrusted && current !== undefined) await trust.trust([current.folder]);
    return () => {};
  }
  cpSync(directory, copy, { recursive: true });
  const undo = (): void => {
    rmSync(directory, { recursive: true, force: true });
    renameSync(copy, directory);
  };
  try {
    const before = read(name, directory);
    if (before.current?.isKept === false) await keepByHand({ trust, writer }, before, { version: before.current });
    const stored = read(name, directory);
    const from = stored.current?.label;
    const version = difference?.version?.to ?? "1.0.0";
    await writer.write({
      name,
      event: { type: "update", version, ...(from !== undefined && { from }), source: source.address },
      files: toFiles(candidate, version),
      isTrusted,
      isDeleted: stored.isDeleted,
      check(now) {
        if (now?.digest !== stored.digest) throw new KitbagError("script-changed", { path: place });
      },
    });
  } catch (cause) {
    undo();
    throw cause;
  }
  return undo;
}

/** The files that were shown, each only if its bytes are those that were hashed; the manifest says which version it is here. */
function toFiles({ report, place }: LoadedCandidate, version: string): FileMap {
  const { folder } = report.skill ?? {};
  if (folder === undefined) throw new KitbagError("script-changed", { path: place });
  const own = folder.files.filter(({ path }) => !isOwnPath(path));
  return new Map(
    own.map((file) => {
      const { bytes } = readShown(folder.directory, file);
      return [file.path, file.path === manifestFile ? withVersion(bytes, version) : bytes];
    }),
  );
}

function withVersion(bytes: Uint8Array, version: string): Uint8Array {
  const manifest = JSON.parse(new TextDecoder().decode(bytes)) as JsonObject;
  if (manifest["version"] === version) return bytes;
  return new TextEncoder().encode(`${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}
