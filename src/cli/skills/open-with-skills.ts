import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import type { ForgedTool } from "../../forge/forge-interface.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { createConfigured, openWorkspace, type Additions, type OpenWorkspace } from "../config/open-workspace.ts";
import { hasForged, loadForged } from "../forge/load-forged.ts";
import { openServers } from "../mcp/open-servers.ts";
import { loadReports } from "./load-reports.ts";

/** Where tools and skills come from, as the person says it. */
export interface Sources extends Additions {
  /** A file with tools, instead of the configuration. */
  readonly module: string | undefined;
  /** Folders with skills, before all others. */
  readonly directories: readonly string[];
  /** What is asked for may be there without any skill; then none is looked for. @default skills are always looked for */
  readonly isThere?: (workspace: Workspace) => boolean;
}

/** A workspace with the skills that were found, all closed. */
export interface WorkspaceWithSkills extends OpenWorkspace {
  readonly reports: readonly SkillReport[];
  /** The tools that were made in the project, also those that may not run; those that may are in the workspace. */
  readonly forged: readonly ForgedTool[];
}

/**
 * Makes the workspace of a command: the tools of the configuration or the module, those that were made in the project, and the
 * skills that are found. One of these is enough.
 *
 * @throws {KitbagError} `config-missing` if there is neither and no folder was named; otherwise as {@link openWorkspace} and {@link loadReports}.
 */
export async function openWithSkills(context: CliContext, sources: Sources): Promise<WorkspaceWithSkills> {
  const opened = await openConfigured(context, sources);
  if (isKitbagError(opened)) return openUnconfigured(context, sources, opened);
  await openServers(context, sources.runtimes).add(opened.workspace, opened.mcp);
  if (sources.isThere?.(opened.workspace) === true) return { ...opened, reports: [], forged: [] };
  return addFound(context, sources, opened);
}

/** Adds what is found: tools that were made first, because skills take longer. */
async function addFound(context: CliContext, sources: Sources, opened: OpenWorkspace): Promise<WorkspaceWithSkills> {
  const forged = await loadForged(context, opened.workspace);
  const made = forged.list();
  if (made.length > 0 && sources.isThere?.(opened.workspace) === true) return { ...opened, reports: [], forged: made };
  const reports = addSkills(opened.workspace, await loadCompleted(context, sources));
  forged.refresh();
  return { ...opened, reports, forged: forged.list() };
}

/** Nothing is configured; that is right where there are skills. Nothing is opened where there is nothing to use. */
async function openUnconfigured(
  context: CliContext,
  sources: Sources,
  missing: KitbagError,
): Promise<WorkspaceWithSkills> {
  if (hasForged(context)) return addFound(context, sources, await createConfigured({}, sources, context.cwd));
  const reports = await loadCompleted(context, sources);
  if (reports.length === 0 && sources.directories.length === 0) throw missing;
  const opened = await createConfigured({}, sources, context.cwd);
  return { ...opened, reports: addSkills(opened.workspace, reports), forged: [] };
}

/** Skills with the tools of the MCP servers that they bring. */
async function loadCompleted(context: CliContext, { directories, runtimes }: Sources): Promise<readonly SkillReport[]> {
  return openServers(context, runtimes).complete(await loadReports(context, directories));
}

/** Adds the skills that are found to a workspace, closed. What cannot be added is skipped, and its report says why. */
export function addSkills(workspace: Workspace, reports: readonly SkillReport[]): SkillReport[] {
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

async function openConfigured(context: CliContext, sources: Sources): Promise<OpenWorkspace | KitbagError> {
  try {
    return await openWorkspace(context, sources.module, sources);
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    return cause;
  }
}
