import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { openWorkspace, type OpenWorkspace } from "../config/open-workspace.ts";
import { loadReports } from "./load-reports.ts";

/** Where tools and skills come from, as the person says it. */
export interface Sources {
  /** A file with tools, instead of the configuration. */
  readonly module: string | undefined;
  /** Folders with skills, before all others. */
  readonly directories: readonly string[];
  /** What is asked for may be there without any skill; then none is looked for. @default skills are always looked for */
  readonly isThere?: (workspace: Workspace) => boolean;
  /** Where scripts and modules run. @default they do not */
  readonly runtimes?: Iterable<Runtime>;
}

/** A workspace with the skills that were found, all closed. */
export interface WorkspaceWithSkills extends OpenWorkspace {
  readonly reports: readonly SkillReport[];
}

/**
 * Makes the workspace of a command: the tools of the configuration or the module, and the skills that are found. One of the two
 * is enough.
 *
 * @throws {KitbagError} `config-missing` if there is neither and no folder was named; otherwise as {@link openWorkspace} and {@link loadReports}.
 */
export async function openWithSkills(context: CliContext, sources: Sources): Promise<WorkspaceWithSkills> {
  const { opened, missing } = await openConfigured(context, sources);
  if (sources.isThere?.(opened.workspace) === true) return { ...opened, reports: [] };
  const reports = await addSkills(opened.workspace, context, sources.directories);
  if (missing !== undefined && reports.length === 0 && sources.directories.length === 0) throw missing;
  return { ...opened, reports };
}

/**
 * Adds the skills that are found to a workspace, closed. What cannot be added is skipped, and its report says why.
 *
 * @throws {KitbagError} as {@link loadReports}.
 */
async function addSkills(
  workspace: Workspace,
  context: CliContext,
  directories: readonly string[],
): Promise<SkillReport[]> {
  const reports = await loadReports(context, directories);
  return reports.map((report) => addSkill(workspace, report));
}

function addSkill(workspace: Workspace, report: SkillReport): SkillReport {
  if (report.skill === undefined) return report;
  try {
    workspace.addSkill(report.skill);
    return report;
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const diagnostic: Diagnostic = {
      severity: "error",
      code: "skill-refused",
      message: `Skipped, because the configuration goes before it: ${cause.message}`,
      file: "SKILL.md",
    };
    const { skill: _, ...rest } = report;
    return { ...rest, status: "skipped", diagnostics: [...report.diagnostics, diagnostic] };
  }
}

interface Configured {
  readonly opened: OpenWorkspace;
  /** Nothing was configured; that is right where there are skills. */
  readonly missing?: KitbagError;
}

async function openConfigured(context: CliContext, { module, runtimes = [] }: Sources): Promise<Configured> {
  try {
    return { opened: await openWorkspace(context, module, runtimes) };
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    const { createWorkspace } = await import("../../workspace/create-workspace.ts");
    return { opened: { workspace: createWorkspace({ runtimes }), options: {} }, missing: cause };
  }
}
