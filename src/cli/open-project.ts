import { existsSync } from "node:fs";
import { join } from "node:path";

import type { FilePolicy } from "../core/call-files.ts";
import type { Diagnostic } from "../core/diagnostics.ts";
import { isKitbagError, type KitbagError } from "../core/errors.ts";
import type { ForgedTool } from "../forge/forge-interface.ts";
import type { RuntimesOptions } from "../runtimes/runtimes-options.ts";
import { resolveKitbagHome } from "../platform/home.ts";
import type { SkillReport } from "../skills/load/skill-report.ts";
import type { Workspace, WorkspaceOptions } from "../workspace/workspace.ts";
import type { CliContext, Invocation } from "./cli-command.ts";
import { type Additions, createConfigured, openWorkspace, type OpenWorkspace } from "./config/open-workspace.ts";
import { openServers } from "./mcp/open-servers.ts";
import { getText, getTexts, readLogLevel } from "./options.ts";
import { type CliRuntimes, openCliRuntimes } from "./sandbox/open-cli-runtimes.ts";
import { loadReports } from "./skills/load-reports.ts";
import { hasMadeTools } from "./store/find-project.ts";
import { createRecords, type Records } from "./store/open-records.ts";
import { uninterrupted } from "./until-interrupted.ts";

/** What a command wants of the tools that it opens. */
export interface OpenToolsOptions {
  /** Folders with skills, after those of `--skills` and before the usual places. */
  readonly directories?: readonly string[];
  /** Whether the tool that is asked for is there without any skill: then no skills are looked for. @default they always are */
  readonly isThere?: (workspace: Workspace) => boolean;
  /** The tool that is asked for: where nothing is configured, it is said why it may be missing. */
  readonly asked?: string;
  /** Where there is nothing at all, the skills that come with Kitbag are taken. @default only for a tool of theirs that is `asked` for */
  readonly offersShipped?: boolean;
  /** The command needs neither a configuration nor skills. @default it needs one of them */
  readonly mayBeEmpty?: boolean;
}

/** A workspace with the tools of the configuration, those that were made in the project, and skills, all closed. */
export interface OpenTools extends OpenWorkspace {
  readonly reports: readonly SkillReport[];
  /** The tools that were made in the project, also those that may not run; those that may are in the workspace. */
  readonly forged: readonly ForgedTool[];
}

/** A project whose tools a command calls. Nothing is opened before `open`; what was opened is closed together. */
export interface Project {
  readonly invocation: Invocation;
  /** Where calls are recorded, and whose they are. */
  readonly records: Records;
  /** Where tools run. */
  readonly runtimes: CliRuntimes;
  /**
   * Opens configuration, store, tools and skills. From then on calls are logged, and the versions of what is called are kept.
   *
   * @throws {KitbagError} as {@link openTools}, and `store-…`, `audit-…` if calls cannot be recorded.
   */
  open(wanted?: OpenToolsOptions): Promise<OpenTools>;
  /** Waits for what is still written, and closes the runtimes and the store. A signal does not interrupt it. */
  close(): Promise<void>;
}

/** How the runtimes of a project are opened. */
export interface ProjectOptions extends Pick<RuntimesOptions, "debug" | "directory" | "onLearned" | "warm"> {
  /** What is done when a model names a file, whatever the configuration says. @default as the configuration says */
  readonly files?: FilePolicy;
}

/**
 * Makes the project of a command that calls tools. The caller closes it.
 *
 * @throws {KitbagError} `usage-invalid` for a store, a sandbox or a variable that cannot be used.
 */
export function openProject(invocation: Invocation, { files, ...options }: ProjectOptions = {}): Project {
  const records = createRecords(invocation);
  const runtimes = openCliRuntimes(invocation, options);
  const complete: Additions["complete"] = async (configured) => ({
    ...(await records.complete(configured)),
    ...(files !== undefined && { files }),
  });
  return {
    invocation,
    records,
    runtimes,
    async open(wanted = {}) {
      const opened = await openTools(invocation, wanted, { runtimes, complete });
      await startLog(opened.workspace, opened.options, invocation);
      records.keepVersions(opened.workspace);
      return opened;
    },
    close: async () =>
      uninterrupted(async () => {
        await runtimes.close();
        await records.close();
      }),
  };
}

/**
 * Opens the tools of a project: those of the configuration or of `--module`, those that were made in the project, and the skills that are
 * found. Without `additions` they are only looked at: none can run, and no store is opened.
 *
 * @throws {KitbagError} `config-missing` if there is neither a configuration nor a skill and no folder was named; otherwise as
 *   {@link openWorkspace} and {@link loadReports}.
 */
export async function openTools(
  invocation: Invocation,
  wanted: OpenToolsOptions = {},
  additions: Additions = {},
): Promise<OpenTools> {
  const directories = [...getTexts(invocation.options, "skills"), ...(wanted.directories ?? [])];
  const load = async (): Promise<readonly SkillReport[]> =>
    openServers(invocation, additions.runtimes).complete(await loadReports(invocation, directories));
  const opened = await openConfigured(invocation, additions);
  if (!isKitbagError(opened)) {
    await openServers(invocation, additions.runtimes).add(opened.workspace, opened.mcp);
    if (wanted.isThere?.(opened.workspace) === true) return { ...opened, reports: [], forged: [] };
    return addFound(invocation, opened, { load, isThere: wanted.isThere });
  }
  // Nothing is configured. Where nothing is found either, no store is opened.
  const found = hasMadeTools(invocation.cwd)
    ? undefined
    : await loadOrShipped(invocation, { ...wanted, directories }, load);
  if (found?.length === 0 && directories.length === 0 && wanted.mayBeEmpty !== true) {
    const { noteMissing } = await import("./skills/note-missing.ts");
    await noteMissing(wanted.asked === undefined ? [] : [wanted.asked], { invocation });
    throw opened;
  }
  const empty = await createConfigured({}, additions, invocation.cwd);
  return addFound(invocation, empty, { load: async () => found ?? load(), isThere: wanted.isThere });
}

/** What is found, or what comes with Kitbag if nothing is found and no folder was named. */
async function loadOrShipped(
  invocation: Invocation,
  wanted: OpenToolsOptions & { readonly directories: readonly string[] },
  load: () => Promise<readonly SkillReport[]>,
): Promise<readonly SkillReport[]> {
  const own = await load();
  return own.length === 0 && wanted.directories.length === 0 ? loadShipped(invocation, wanted) : own;
}

/** The skills that come with Kitbag, where there is nothing else: a person who is new here sees what skills are. */
async function loadShipped(
  invocation: Invocation,
  { asked, offersShipped = false }: OpenToolsOptions,
): Promise<readonly SkillReport[]> {
  const { exampleSkills } = await import("./own-files.ts");
  const [owner = ""] = (asked ?? "").split("/", 1);
  if (!offersShipped && !(asked?.includes("/") === true && existsSync(join(exampleSkills, owner, "SKILL.md"))))
    return [];
  invocation.terminal.note(
    "There are no tools and no skills here, so these are the skills that come with Kitbag. To start a project of your own: kitbag init\n",
  );
  return loadReports(invocation, [exampleSkills]);
}

async function openConfigured(invocation: Invocation, additions: Additions): Promise<OpenWorkspace | KitbagError> {
  try {
    return await openWorkspace(invocation, getText(invocation.options, "module"), additions);
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    return cause;
  }
}

interface FoundSources {
  readonly isThere: OpenToolsOptions["isThere"] | undefined;
  load(): Promise<readonly SkillReport[]>;
}

/** Adds what is found: tools that were made first, because skills take longer. */
async function addFound(
  context: CliContext,
  opened: OpenWorkspace,
  { load, isThere }: FoundSources,
): Promise<OpenTools> {
  const { workspace } = opened;
  const made = await loadMade(context, workspace);
  if (made !== undefined && isThere?.(workspace) === true) return { ...opened, reports: [], forged: made.list() };
  const reports = addSkills(workspace, await load());
  // Pipelines may find the tools of their steps now.
  made?.refresh();
  return { ...opened, reports, forged: made?.list() ?? [] };
}

/** The tools that were made in the project, in its workspace. */
interface MadeTools {
  list(): readonly ForgedTool[];
  refresh(): void;
}

/** Adds the tools that were made in the project. Most projects have none: then nothing that reads them is loaded. */
async function loadMade({ cwd, env }: CliContext, workspace: Workspace): Promise<MadeTools | undefined> {
  if (!hasMadeTools(cwd)) return undefined;
  const { loadForgedTools } = await import("../forge/live/live-tools.ts");
  return loadForgedTools(workspace, { directory: cwd, home: resolveKitbagHome(env) });
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

/**
 * Logs the calls of a workspace on standard error from now on, if `--log` or `KITBAG_LOG` asks for it.
 *
 * @throws {KitbagError} `usage-invalid` for a level that does not exist.
 */
export async function startLog(workspace: Workspace, options: WorkspaceOptions, invocation: Invocation): Promise<void> {
  const level = readLogLevel(invocation);
  if (level === "off") return;
  const { logCalls } = await import("./logs/create-logger.ts");
  logCalls(workspace, { level, terminal: invocation.terminal, secrets: options.secrets ?? {} });
}
