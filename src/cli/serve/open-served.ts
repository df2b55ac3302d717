import { opendir, realpath } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

import { describeCause, KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { createScopesOf } from "../../gate/access/token-check.ts";
import { createUserSessions, userSessionLimits } from "../../gate/sessions/user-sessions.ts";
import type { ApiRoute } from "../../http/gate-route.ts";
import type { McpServerContent } from "../../mcp/client/server-content.ts";
import type { McpServerEvent, McpServerOptions, McpServing } from "../../mcp/server/mcp-server-options.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { SkillSource } from "../../skills/watch/skill-source.ts";
import { createOutputTool } from "../../workspace/outputs/output-tool.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import { type FollowedSkills, followSkills, createSkillSource } from "../../workspace/skills/folder-skills.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { type CliContext, type Invocation, usageError } from "../cli-command.ts";
import type { OpenWorkspace } from "../config/open-workspace.ts";
import { openWorkshop, type Workshop, type WorkshopOptions } from "../forge/open-workshop.ts";
import { readLogLevel } from "../options.ts";
import { type CliServers, withServers } from "../mcp/open-servers.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { toFindOptions, toLoadOptions, noteUntrusted } from "../skills/load-reports.ts";
import { ownFolder } from "../store/find-project.ts";
import type { Project } from "../open-project.ts";
import { type ApiListeners, openApi } from "./open-api.ts";
import type { LiveTokens } from "./tokens.ts";
import { readVersion } from "../own-files.ts";
import type { ServeOptions } from "./serve-options.ts";

/** A workspace that is ready to be served. */
export interface Served {
  readonly workspace: Workspace;
  readonly server: McpServing;
  readonly store: Store | undefined;
  /** Makes the route of the HTTP API, which shares the sessions of users with the MCP server. */
  openApi(listeners: ApiListeners): Promise<ApiRoute>;
  /** How many sessions of users are open. */
  countSessions(): number;
  /** Cancels what runs, and closes what was opened for serving. */
  close(): Promise<void>;
}

/** How many calls of one user may run at the same time for each core, so that other users get calls through, too. */
const callsPerCore = 4;

/** How often the quotas that `kitbag quota` sets are read again. */
const lookMs = 500;

/**
 * Quotas that are set in another terminal count at once. While they cannot be read, those of before stay, and `warn` is told so once,
 * until they can be read again.
 */
export function followQuotas(quotas: Pick<Quotas, "refresh">, warn: (cause: unknown) => void): NodeJS.Timeout {
  let isFailing = false;
  async function look(): Promise<void> {
    try {
      await quotas.refresh();
      isFailing = false;
    } catch (cause) {
      if (!isFailing) warn(cause);
      isFailing = true;
    }
  }
  return setInterval(() => void look(), lookMs).unref();
}

function note({ terminal }: Invocation, text: string): void {
  terminal.note(`${toPrintableLine(text)}\n`);
}

const staleQuotas = "Quotas: cannot read changes, those of before stay";

/** What happens to sessions is worth a line only to those who read the log. */
async function logSession({ terminal, ...given }: Invocation, { type, ...fields }: McpServerEvent): Promise<void> {
  const { createLogger } = await import("../logs/create-logger.ts");
  const logger = createLogger({ level: readLogLevel(given), write: terminal.note, isWatched: terminal.isWatched });
  const message = type === "session-dropped" ? "session closed to make room" : "session refused: too many are in use";
  logger.log("warn", message, fields);
}

/** Opens the tools and skills of a project, code mode and the MCP server in front of them. */
export async function openServed(
  project: Project,
  wanted: ServeOptions,
  tokens: LiveTokens | undefined,
): Promise<Served> {
  const { invocation } = project;
  const { directories, exposure, open, http } = wanted;
  // The largest part to load; the rest does not need it to begin.
  const loading = import("../../mcp/server/create-mcp-server.ts");
  loading.catch(() => {});
  let shared: McpServerContent | undefined;
  const workshop = await openWorkshop(project, {
    ...toShares(wanted, tokens),
    async addSkills(opened, servers) {
      const followed = await addServedSkills(invocation, opened, { directories, servers });
      shared = await servers.share(opened.mcp);
      return followed;
    },
  });
  const { workspace, serve, forge, options } = workshop;
  await openSkills(workshop, open);
  const { createMcpServer } = await loading;
  const quotas = followQuotas(workspace.quotas, (cause) => note(invocation, `${staleQuotas}: ${describeCause(cause)}`));
  const users = http && createUserSessions(workspace, userSessionLimits);
  const server = createMcpServer({
    workspace,
    ...(users !== undefined && { users }),
    exposure: exposure ?? serve?.exposure ?? "both",
    version: readVersion(),
    listFiles: createFileLister(invocation.cwd),
    ...(options.store !== undefined && { store: options.store }),
    ...(forge !== undefined && { forge }),
    ...toSources(shared),
    report: (event) => void logSession(invocation, event),
    onError: (error) => note(invocation, `MCP: ${error.message}`),
  });

  shared?.onChange(server.notify);
  return {
    workspace,
    server,
    store: options.store,
    openApi: (listeners) => openApi(invocation, { workshop, users, tokens, listeners }),
    countSessions: () => users?.size ?? 0,
    async close() {
      clearInterval(quotas);
      await server.close();
      await users?.closeAll();
      await workshop.close();
    },
  };
}

/** What users of a service share: places for calls, and the scopes of their tokens. */
function toShares(
  { hasForge, http }: ServeOptions,
  tokens: LiveTokens | undefined,
): Pick<WorkshopOptions, "hasForge" | "maxPerUser" | "scopesOf"> {
  return {
    hasForge,
    ...(http !== undefined && { maxPerUser: callsPerCore * availableParallelism() }),
    ...(tokens !== undefined && { scopesOf: (user) => createScopesOf(tokens.current)(user) }),
  };
}

/** Adds the skills of the project, which are followed, and what reads large outputs: not every client shows resources to its model. */
async function addServedSkills(
  invocation: Invocation,
  { workspace, mcp }: OpenWorkspace,
  from: { readonly directories: readonly string[]; readonly servers: CliServers },
): Promise<FollowedSkills> {
  const followed = await followFolders(invocation, workspace, from);
  // `kitbag trust` in another terminal counts at once.
  followed.onReload(() => void from.servers.refresh(workspace, mcp));
  if (workspace.getTool("read_output") === undefined) workspace.add(createOutputTool(workspace));
  return followed;
}

/** What clients can read of other servers. */
function toSources(shared: McpServerContent | undefined): Pick<McpServerOptions, "prompts" | "resources"> {
  return shared === undefined ? {} : { resources: [shared.resources], prompts: [shared.prompts] };
}

/**
 * Opens skills for every client: each session begins with what is open in the workspace.
 *
 * @throws {KitbagError} why a skill cannot be opened; the workshop is closed then.
 */
async function openSkills({ workspace, close }: Workshop, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const outcome = await workspace.activateSkill(name);
    if (outcome.status === "ok") continue;
    await close();
    throw new KitbagError(outcome.error.code, outcome.error.details);
  }
}

/** The maximum number of paths in an answer, and of folder entries that are read to find them. */
const mostFound = 200;
const mostLookedAt = 10_000;

/**
 * Makes what finds files and folders whose paths begin with a typed text, for completions. Paths are relative to the project;
 * those of folders end with `/`. Nothing outside of the project is found, also not through a link, nothing of a `.kitbag`, where what
 * other users made lies, and what is hidden only if the typed name begins with a dot.
 */
export function createFileLister(project: string): (typed: string) => Promise<readonly string[]> {
  return async (typed) => {
    const end = typed.lastIndexOf("/") + 1;
    const [folder, start] = [typed.slice(0, end), typed.slice(end)];
    const directory = await findInside(project, folder);
    return directory === undefined
      ? []
      : listNames(directory, start).then((names) => names.map((name) => folder + name));
  };
}

/** The real path of a folder of the project; nothing if it is elsewhere, or not there. */
async function findInside(project: string, folder: string): Promise<string | undefined> {
  if (folder.includes("\0") || isAbsolute(folder) || folder.split("/").includes("..")) return undefined;
  try {
    const [root, directory] = await Promise.all([realpath(project), realpath(join(project, folder))]);
    const names = relative(root, directory).split(sep);
    return names[0] === ".." || names.some(isOwnFolder) ? undefined : directory;
  } catch {
    return undefined;
  }
}

/** Some file systems do not tell capital letters apart. */
function isOwnFolder(name: string): boolean {
  return name.toLowerCase() === ownFolder;
}

async function listNames(directory: string, start: string): Promise<string[]> {
  const names: string[] = [];
  let lookedAt = 0;
  try {
    for await (const entry of await opendir(directory)) {
      if ((lookedAt += 1) > mostLookedAt) break;
      const isWanted = entry.name.startsWith(start) && (!entry.name.startsWith(".") || start.startsWith("."));
      // A link may lead out of the project: it is not listed.
      if (isWanted && !isOwnFolder(entry.name) && (entry.isFile() || entry.isDirectory()))
        names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    }
  } catch {
    return [];
  }
  return names.toSorted().slice(0, mostFound);
}

/**
 * Adds the skills that are found to a workspace, closed, and keeps them as their folders are from now on.
 *
 * @throws {KitbagError} `usage-invalid` if a folder that was named is not there.
 */
async function followFolders(
  context: CliContext,
  workspace: Workspace,
  { directories, servers }: { readonly directories: readonly string[]; readonly servers: CliServers },
): Promise<FollowedSkills> {
  const { onProgress: _, ...options } = toLoadOptions(context, directories);
  const source = createSkillSource({ ...options, ...toFindOptions(context, directories) });
  const followed = await followSkills(workspace, checkFirst(withServers(source, servers, context), context));
  noteUntrusted(followed.reports(), context.terminal);
  let skipped = toSkipped(followed.reports());
  followed.onReload((reports) => {
    const now = toSkipped(reports);
    for (const line of now) if (!skipped.has(line)) context.terminal.note(line);
    skipped = now;
  });
  return followed;
}

/** What is wrong at the start is said, and a folder that was named must be there; later it may come and go. */
function checkFirst(source: SkillSource, { terminal }: CliContext): SkillSource {
  let isFirst = true;
  return {
    load: () => source.load(),
    watch: (onLoad) =>
      source.watch(async (loaded) => {
        const missing = loaded.diagnostics.find(({ code }) => code === "folder-missing");
        if (isFirst && missing !== undefined) throw usageError(missing.message);
        if (isFirst) for (const { message } of loaded.diagnostics) terminal.note(`${toPrintable(message)}\n`);
        isFirst = false;
        await onLoad(loaded);
      }),
  };
}

/** One line for each skill that is not as its folder says. */
function toSkipped(reports: readonly SkillReport[]): ReadonlySet<string> {
  return new Set(
    reports.flatMap(({ name, status, diagnostics }) => {
      const problem = diagnostics.find(({ severity }) => severity === "error") ?? diagnostics[0];
      if (status === "ok" || problem === undefined) return [];
      return [`${toPrintableLine(`The skill ${name}: ${problem.message}`)}\n`];
    }),
  );
}
