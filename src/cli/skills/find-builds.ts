import { realpathSync, statSync } from "node:fs";
import { parse, resolve } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { isInside } from "../../platform/paths.ts";
import { readFolder } from "../../skills/folder/read-folder.ts";
import { readManifest } from "../../skills/load/read-manifest.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { ManifestTool } from "../../skills/manifests/skill-manifest.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import { loadReports } from "./load-reports.ts";

/** A module to build. */
export interface ToolBuild {
  readonly address: string;
  readonly source: string;
  readonly language: ManifestTool["language"];
  readonly output: string;
}

/** What is to be built in one skill. */
export interface SkillBuilds {
  readonly name: string;
  readonly directory: string;
  /** It must be trusted before it runs. */
  readonly needsTrust: boolean;
  readonly tools: readonly ToolBuild[];
}

/**
 * Finds the skills that an argument names, and what their manifests name a source for.
 *
 * @throws {KitbagError} `skill-not-found`, `tool-not-found`; `usage-invalid` if nothing there is built from a source.
 */
export async function findBuilds(given: string, invocation: Invocation): Promise<SkillBuilds[]> {
  const folder = resolve(invocation.cwd, given);
  const facts = given === "" ? undefined : statSync(folder, { throwIfNoEntry: false });
  if (facts?.isFile() === true) return [toSingle(folder)];
  const isFolder = facts?.isDirectory() === true;
  const [name = "", tool] = isFolder ? [] : given.split("/", 2);
  const directories = isFolder ? [folder] : getTexts(invocation.options, "skills");
  const reports = await loadReports(invocation, directories);
  const found = isFolder
    ? reports.filter(({ directory }) => isInside(directory, realpathSync(folder)))
    : reports.filter((report) => report.name === name).slice(0, 1);
  if (found.length === 0) throw notFound(isFolder ? given : name, reports);
  const skills = found.map((report) => toBuilds(report)).filter(({ tools }) => tools.length > 0);
  const [only] = skills;
  if (only === undefined) {
    throw usageError(
      `Cannot build ${quote(given)}: no tool there has a "source"; name one in kitbag.toml, beside its "file"`,
    );
  }
  return tool === undefined ? skills : [pick(only, tool)];
}

/** A file that is not in a skill yet: the module goes beside it. */
function toSingle(file: string): SkillBuilds {
  const { base, name, dir } = parse(file);
  const tool = { address: base, source: base, language: undefined, output: `${name}.wasm` };
  return { name: base, directory: dir, needsTrust: false, tools: [tool] };
}

function notFound(given: string, reports: readonly SkillReport[]): KitbagError {
  const names = new Set(reports.map(({ name }) => name));
  return new KitbagError("skill-not-found", { skill: given, nearest: nearestNames(given, names), count: names.size });
}

function pick(skill: SkillBuilds, tool: string): SkillBuilds {
  const address = `${skill.name}/${tool}`;
  const tools = skill.tools.filter((one) => one.address === address);
  if (tools.length > 0) return { ...skill, tools };
  const known = skill.tools.map((one) => one.address);
  throw new KitbagError("tool-not-found", {
    tool: address,
    nearest: nearestNames(address, known),
    count: known.length,
  });
}

/** The manifest is read here, because a tool whose module is not built yet is in no report. */
function toBuilds({ name, directory, skill }: SkillReport): SkillBuilds {
  const { manifest } = readManifest(readFolder(directory));
  const tools = (manifest?.tools ?? []).flatMap((tool): ToolBuild[] => {
    const { source, language, file: output } = tool;
    if (source === undefined || output === undefined) return [];
    return [{ address: `${name}/${tool.name}`, source, language, output }];
  });
  return { name, directory, needsTrust: skill?.folder?.scope === "project", tools };
}
