import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { skillVersionsFolder } from "../../skills/discovery/find-skills.ts";
import type { StoredVersion } from "../../forge/disk/stored-tool.ts";
import type { ForgedTool, ForgeVersion } from "../../forge/forge-interface.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { Version } from "../../records/versions/history.ts";
import { createVersions, type VersionDiff } from "../../records/versions/versions.ts";
import type { CliContext } from "../cli-command.ts";
import { hasMadeTools } from "../store/find-project.ts";

/** A tool or a skill that was made in the project, and its versions. */
export interface ForgedVersions {
  readonly address: string;
  readonly versions: number;
  /** The one that is live; none if it was deleted. */
  readonly current: Version | undefined;
  /** Who made it, if that was another user. */
  readonly madeBy?: string;
}

/** Says which user made something, and whether it is there for others; nothing for what the local user made. */
export function showMaker({ owner, shared }: { readonly owner?: string; readonly shared?: boolean }): string {
  return owner === undefined ? "" : `made by ${owner}, ${shared === true ? "shared" : "not shared"}`;
}

/** Tells what was made in the project under this name: its versions are in its folders, whether it was called or not. */
export function findForged(address: string, { cwd }: Pick<CliContext, "cwd">): "tool" | "skill" | undefined {
  if (!isName(address)) return undefined;
  if (existsSync(join(cwd, ".kitbag", "tools", address))) return "tool";
  return existsSync(join(cwd, ".kitbag", skillVersionsFolder, address)) ? "skill" : undefined;
}

/** The tools and skills that were made in the project. */
export async function listForgedVersions(context: CliContext): Promise<readonly ForgedVersions[]> {
  if (!hasMadeTools(context.cwd) && !existsSync(join(context.cwd, ".kitbag", skillVersionsFolder))) return [];
  const { withForge } = await import("./with-forge.ts");
  return withForge(context, async (forge) => {
    const listed: ForgedVersions[] = [];
    for (const tool of forge.listTools()) {
      if (tool.status !== "broken") listed.push(summarise(tool, await forge.listVersions(tool.name)));
    }
    for (const skill of forge.listSkills()) {
      listed.push(summarise(skill, await forge.listSkillVersions(skill.name)));
    }
    return listed;
  });
}

function summarise(
  made: Pick<ForgedTool, "name" | "owner" | "shared">,
  versions: readonly ForgeVersion[],
): ForgedVersions {
  const { name: address, owner } = made;
  const current = findCurrent(address, versions);
  return { address, versions: versions.length, current, ...(owner !== undefined && { madeBy: showMaker(made) }) };
}

function findCurrent(address: string, versions: readonly ForgeVersion[]): Version | undefined {
  const index = versions.findIndex(({ current }) => current);
  const found = versions[index];
  if (found === undefined) return undefined;
  const { digest, version: label, at: time, author } = found;
  return { address, number: index + 1, digest, label, time, ...(author !== undefined && { author }) };
}

/**
 * Compares two versions of a tool or a skill that was made in the project: by number, label, or the beginning of a digest.
 *
 * @throws {KitbagError} `version-not-found`
 */
export async function diffForged(
  address: string,
  pair: readonly (number | string)[],
  context: Pick<CliContext, "cwd">,
): Promise<VersionDiff> {
  const all = await (findForged(address, context) === "skill" ? readSkillVersions : readToolVersions)(address, context);
  const kept = createVersions(memoryStore());
  const digests: string[] = [];
  for (const which of pair) digests.push((await kept.keep(address, toSource(pick(address, all, which)))).digest);
  const [from = "", to = ""] = digests;
  return kept.diff(address, from, to);
}

type Stored = Pick<StoredVersion, "label" | "folder">;

async function readToolVersions(address: string, { cwd }: Pick<CliContext, "cwd">): Promise<readonly Stored[]> {
  const { createToolReader } = await import("../../forge/disk/stored-tool.ts");
  const { current, versions } = createToolReader()(address, join(cwd, ".kitbag", "tools", address));
  return current === undefined || versions.includes(current) ? versions : [...versions, current];
}

async function readSkillVersions(address: string, { cwd }: Pick<CliContext, "cwd">): Promise<readonly Stored[]> {
  const { createToolsFolder } = await import("../../forge/disk/tools-folder.ts");
  const { readSkill } = await import("../../forge/skills/stored-skill.ts");
  return readSkill(createToolsFolder(cwd), address).versions;
}

function pick(address: string, versions: readonly Stored[], which: number | string): Stored {
  const digits = typeof which === "number" ? "" : which.replace(/^sha256:/u, "");
  const found =
    typeof which === "number"
      ? versions[which - 1]
      : (versions.find(({ label }) => label === which) ??
        versions.find(({ folder }) => digits.length >= shortest && folder.digest.startsWith(`sha256:${digits}`)));
  if (found !== undefined) return found;
  const known = versions.map(({ label }) => label);
  throw new KitbagError("version-not-found", { address, which: String(which), known });
}

const shortest = 8;

/** What a version is stands in its files. */
function toSource({ folder }: Stored): Parameters<ReturnType<typeof createVersions>["keep"]>[1] {
  const files = folder.files.map((file) => ({ ...file, read: () => readFileSync(join(folder.directory, file.path)) }));
  return { definition: {}, files };
}
