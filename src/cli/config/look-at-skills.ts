import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import { createSkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { FolderTrust } from "../../skills/trust/folder-trust.ts";
import type { Digests } from "../../skills/trust/trust-format.ts";
import type { CliContext } from "../cli-command.ts";
import { toLoadOptions } from "../skills/load-reports.ts";
import { toPrintable } from "../printable.ts";
import { toShownPath } from "../shown-path.ts";
import { whySkipped } from "../skills/describe-report.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import { usageError } from "../usage-error.ts";
import { findImports } from "./find-imports.ts";
import { loadJsonConfig } from "./open-workspace.ts";
import { findGrants } from "./to-workspace-options.ts";
import type { TrustTarget } from "./find-trust-target.ts";

/** A skill that may be trusted, as it is now. */
export interface LookedAtSkill {
  readonly report: SkillReport;
  readonly skill: Skill;
  readonly folder: SkillFolder;
  /** What is said about it, and what a careful reader would stop at. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A configuration that may be trusted, as it is now. */
export interface LookedAtConfig {
  readonly path: string;
  readonly files: Digests;
  /** The keys that need trust, if it is data. */
  readonly keys: readonly string[];
}

/** What is shown to the person, and trusted if they say so: exactly these bytes. */
export interface LookedAt {
  readonly config?: LookedAtConfig;
  readonly skills: readonly LookedAtSkill[];
  /** Folders that are no use, with the reason. */
  readonly skipped: readonly SkillReport[];
  /** The other skills of the project, for what the trusted ones use of them. */
  readonly others: readonly SkillReport[];
}

/**
 * Reads what somebody wants to trust. Runs nothing of it that is not trusted already.
 *
 * @throws {KitbagError} `usage-invalid` if none of the skills can be used; `config-invalid` if a file cannot be read.
 */
export async function lookAt(target: TrustTarget, context: CliContext): Promise<LookedAt> {
  const config = target.config === undefined ? {} : { config: lookAtConfig(target.config) };
  if (target.directories.length === 0) return { ...config, skills: [], skipped: [], others: [] };
  const { loadSkills } = await import("../../workspace/skills/folder-skills.ts");
  const options = toLoadOptions(context, target.directories);
  // The bytes that were read are the bytes that are scanned, shown and trusted.
  const memory = createSkillMemory();
  const { reports } = await loadSkills({ ...options, directories: target.directories, memory });
  const skills = reports.flatMap((report) => {
    const { skill } = report;
    if (skill?.folder === undefined) return [];
    const findings = scanSkill(memory.read(report.directory).snapshot);
    return [{ report, skill, folder: skill.folder, diagnostics: [...report.diagnostics, ...findings] }];
  });
  const skipped = reports.filter((report) => report.skill === undefined);
  if (skills.length === 0 && target.config === undefined) {
    const [first] = skipped.flatMap((report) => report.diagnostics.filter(({ severity }) => severity === "error"));
    throw usageError(`Cannot trust ${target.path}: no skill in it can be used: ${first?.message ?? "there is none"}`);
  }
  const { reports: others } = await loadSkills({ ...options, workingDirectory: context.cwd });
  return { ...config, skills, skipped, others };
}

function lookAtConfig(path: string): LookedAtConfig {
  if (!path.endsWith(".json")) return { path, files: findImports(path), keys: [] };
  const { config, digest } = loadJsonConfig(path);
  return { path, files: new Map([[path, digest]]), keys: findGrants(config) };
}

/**
 * Loads the code of skills that somebody has just agreed to trust, exactly as it was shown: only then is it known what they are.
 * Answers with what is to be trusted and pinned. What cannot be used is said on standard error, and is trusted all the same.
 */
export async function loadAgreed(looked: LookedAt, context: CliContext): Promise<readonly LookedAtSkill[]> {
  const withCode = looked.skills.filter(({ folder }) => folder.code !== undefined);
  if (withCode.length === 0) return looked.skills;
  const shown = new Map(withCode.map(({ folder }) => [folder.directory, folder.digest]));
  const directories = [...shown.keys()];
  const trust: FolderTrust = ({ directory, digest }) =>
    shown.get(directory) === digest ? { status: "trusted" } : { status: "untrusted", changed: [] };
  const { loadSkills } = await import("../../workspace/skills/folder-skills.ts");
  // What is agreed to now is pinned anew: the old pins do not count.
  const { lock: _, ...options } = toLoadOptions(context, directories);
  const { reports } = await loadSkills({ ...options, trust, directories });
  return looked.skills.map((one) => {
    const report = reports.find(({ directory }) => directory === one.folder.directory);
    if (report === undefined) return one;
    if (report.skill === undefined) {
      context.terminal.note(`${toPrintable(`${toShownPath(report.path, context.cwd)}: ${whySkipped(report)}`)}\n`);
      return { ...one, diagnostics: [...one.diagnostics, ...report.diagnostics] };
    }
    return report.skill.folder?.trust.status === "trusted" ? { ...one, skill: report.skill } : one;
  });
}
