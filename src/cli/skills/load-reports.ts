import { realpathSync, statSync } from "node:fs";
import { join, resolve, delimiter, isAbsolute } from "node:path";
import { homedir } from "node:os";

import { findSkills, type FindOptions } from "../../skills/discovery/find-skills.ts";
import { isInside } from "../../platform/paths.ts";
import type { LoadedSkills, LoadSkillsOptions } from "../../skills/load/load-skills.ts";
import { createFolderTrust, type FolderTrust } from "../../skills/trust/folder-trust.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { openProjectLock } from "../../skills/trust/lock-file.ts";
import { type CliContext, type Invocation, usageError } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import { KitbagError, quote } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { toPrintable } from "../printable.ts";
import { followMove } from "../store/known-stores.ts";
import type { Terminal } from "../terminal.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";

/**
 * Finds and reads the skills that a command works with: those of `directories`, then those of the usual places. Runs nothing
 * that is in them. What could not be read is said on standard error.
 *
 * @throws {KitbagError} `usage-invalid` if a folder that was named is not there.
 */
export async function loadReports(
  context: CliContext,
  directories: readonly string[],
): Promise<LoadedSkills["reports"]> {
  const { reports, diagnostics } = await load(context, directories);
  const missing = diagnostics.find(({ code }) => code === "folder-missing");
  if (missing !== undefined) throw usageError(missing.message);
  for (const { message } of diagnostics) context.terminal.note(`${toPrintable(message)}\n`);
  return reports;
}

/**
 * Finds the skill that a person means by its folder or its name.
 *
 * @throws {KitbagError} `skill-not-found`; `usage-invalid` if it cannot be used.
 */
export async function findSkillReport(given: string, invocation: Invocation, verb: string): Promise<SkillReport> {
  const folder = resolve(invocation.cwd, given);
  const isFolder = given !== "" && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const directories = isFolder ? [folder] : getTexts(invocation.options, "skills");
  const reports = await loadReports(invocation, directories);
  const found = isFolder
    ? reports.find(({ directory }) => directory === realpathSync(folder))
    : (reports.find(({ name, skill }) => name === given && skill !== undefined) ??
      reports.find(({ name }) => name === given));
  if (found === undefined) {
    const names = new Set(reports.map(({ name }) => name));
    throw new KitbagError("skill-not-found", { skill: given, nearest: nearestNames(given, names), count: names.size });
  }
  if (found.skill !== undefined) return found;
  const { whySkipped } = await import("./render-diagnostics.ts");
  throw usageError(`Cannot ${verb} ${quote(found.name)}: ${whySkipped(found)}`);
}

async function load(context: CliContext, directories: readonly string[]): Promise<LoadedSkills> {
  const places = toFindOptions(context, directories);
  // Most projects have no skills: then nothing that reads them is loaded.
  if (places.directories?.length === 0 && findSkills(places).locations.length === 0) {
    return { reports: [], diagnostics: [] };
  }
  await followMove(context);
  const { loadSkills } = await import("../../workspace/skills/folder-skills.ts");
  return loadSkills({ ...toLoadOptions(context, directories), ...places });
}

/** How every command reads skills: with what this person trusts, what the project pins, and what was read before. */
export function toLoadOptions(context: CliContext, named: readonly string[]): LoadSkillsOptions {
  return {
    cacheFolder: join(resolveKitbagHome(context.env), "cache", "skills"),
    trust: createTrust(context, named),
    lock: openProjectLock(context.cwd),
    onProgress: createProgress(context.terminal),
  };
}

/** What takes less time needs no progress. */
const quietMs = 300;
const pauseMs = 100;

/** Makes a function that shows how far reading skills has come: on a terminal only, and only if it takes a while. */
export function createProgress(
  terminal: Pick<Terminal, "showStatus">,
  now: () => number = () => performance.now(),
): (done: number, total: number) => void {
  let next = now() + quietMs;
  return (done, total) => {
    if (now() < next) return;
    next = now() + pauseMs;
    terminal.showStatus(`Reading skills: ${Math.floor((done / total) * 100)} % of ${Math.ceil(total / 2)}`);
  };
}

/**
 * Makes the judge of skill folders for a command. A folder that the person names may run; one that `KITBAG_SKILLS` names by a
 * relative path is part of the project in the working directory, and must be trusted like any other part of it.
 */
function createTrust(context: CliContext, named: readonly string[]): FolderTrust {
  const trust = createFolderTrust({ home: resolveKitbagHome(context.env) });
  const chosen = named.flatMap((directory) => toReal(resolve(context.cwd, directory)));
  const loose = relativeFolders(context).flatMap(toReal);
  const judge: FolderTrust = (folder) => {
    const isIn = (root: string): boolean => isInside(folder.directory, root);
    const isOfProject = folder.scope === "given" && loose.some(isIn) && !chosen.some(isIn);
    return trust(isOfProject ? { ...folder, scope: "project" } : folder);
  };
  return trust.path === undefined ? judge : Object.assign(judge, { path: trust.path });
}

function toReal(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Where a command looks for skills: in the folders that the person named, in those of `KITBAG_SKILLS`, in the usual places. */
export function toFindOptions(context: CliContext, directories: readonly string[]): FindOptions {
  const { cwd } = context;
  const home = homedir();
  return {
    directories: [...directories, ...listedFolders(context)].map((directory) => resolve(cwd, directory)),
    workingDirectory: cwd,
    ...(isAbsolute(home) && { homeDirectory: home }),
  };
}

/** The folders of `KITBAG_SKILLS` that are another place in every project: what they hold was not chosen by the person. */
function relativeFolders(context: CliContext): string[] {
  return listedFolders(context)
    .filter((path) => !isAbsolute(path))
    .map((path) => resolve(context.cwd, path));
}

function listedFolders({ env }: CliContext): string[] {
  return (env["KITBAG_SKILLS"] ?? "").split(delimiter).filter((path) => path !== "");
}

/** Says on standard error which skills have tools that are not known. */
export function noteUntrusted(reports: readonly SkillReport[], terminal: Pick<Terminal, "note">): void {
  for (const line of describeUntrusted(reports)) terminal.note(`${toPrintable(line)}\n`);
}

/** A line for each skill whose code is not trusted: its tools are known only when the code may run. */
export function describeUntrusted(reports: readonly SkillReport[]): readonly string[] {
  return reports.flatMap(({ name, skill }) => {
    const { code, trust, directory = "" } = skill?.folder ?? {};
    if (code === undefined || trust?.status !== "untrusted") return [];
    const cure = `read it, then run: kitbag trust ${directory}`;
    return [`The tools of ${name} are not known: its ${code} is not trusted; ${cure}`];
  });
}
