import { join } from "node:path";

import { isKitbagError } from "../../core/errors.ts";
import type { McpSource } from "../../core/mcp-source.ts";
import type { Skill } from "../../core/skill.ts";
import type { McpRuntime, McpEvent } from "../../runtimes/mcp/mcp-runtime.ts";
import type { LoadedSkills } from "../../skills/load/load-skills.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { openProjectLock } from "../../skills/trust/lock-file.ts";
import type { LockedServer } from "../../skills/trust/lock-format.ts";
import type { SkillSource } from "../../skills/watch/skill-source.ts";
import type { McpNotice } from "../../mcp/client/add-mcp-servers.ts";
import type { McpServerContent } from "../../mcp/client/server-content.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";

/** Connects to other servers. */
export interface McpOpener {
  openMcp(): Promise<McpRuntime>;
}

/** Other MCP servers, as a command uses them. */
export interface CliServers {
  /** Adds the tools of the servers of a configuration. */
  add(workspace: Workspace, sources: readonly McpSource[]): Promise<void>;
  /** Puts what is agreed to now in the place of what was added before, if a person agreed to something meanwhile. */
  refresh(workspace: Workspace, sources: readonly McpSource[]): Promise<void>;
  /** What clients can read of the servers of a configuration; nothing without any. */
  share(sources: readonly McpSource[]): Promise<McpServerContent | undefined>;
  /** Gives skills the tools of the servers that they bring. */
  complete(reports: readonly SkillReport[]): Promise<readonly SkillReport[]>;
}

/** Makes what a command does with other servers. Nothing is loaded or started without a server. */
export function openServers(context: CliContext, runtimes?: unknown): CliServers {
  const tell = createTeller(context);
  const lock = openProjectLock(context.cwd);
  let used: unknown;

  const load = () => loadClient(context, { lock, tell, runtimes });

  return {
    async add(workspace, sources) {
      if (sources.length === 0) return;
      used = lock.read();
      const { client, options } = await load();
      await client.addMcpServers(workspace, sources, options);
      const { findServerSkills } = await import("../../mcp/client/server-skills.ts");
      for (const source of sources) {
        const found = findServerSkills(source, { ...options, directory: join(toKeptPath(context), "skills") });
        for (const skill of found.skills) addSkill(workspace, skill, tell);
        for (const { name, reason } of found.refused)
          tell({ server: source.name, message: `Left out ${name}: ${reason}` });
      }
    },
    async refresh(workspace, sources) {
      if (sources.length === 0 || lock.read() === used) return;
      used = lock.read();
      const { client, options } = await load();
      await client.replaceMcpServers(workspace, sources, options);
    },
    async share(sources) {
      if (sources.length === 0 || !isOpener(runtimes)) return undefined;
      const [{ options }, { createServerContent }] = await Promise.all([
        load(),
        import("../../mcp/client/server-content.ts"),
      ]);
      return createServerContent(sources, { ...options, openMcp: () => runtimes.openMcp() });
    },
    async complete(reports) {
      if (!reports.some(({ skill }) => skill?.servers !== undefined)) return reports;
      const { client, options } = await load();
      return Promise.all(
        reports.map(async (report) =>
          report.skill === undefined
            ? report
            : { ...report, skill: await client.withServerTools(report.skill, options) },
        ),
      );
    },
  };
}

/** What of the MCP client is needed, and with what it works. */
async function loadClient(
  context: CliContext,
  parts: {
    readonly lock: ReturnType<typeof openProjectLock>;
    readonly tell: (notice: McpNotice) => void;
    readonly runtimes: unknown;
  },
) {
  const { lock, tell, runtimes } = parts;
  const [client, { createKeptContent }] = await Promise.all([
    import("../../mcp/client/add-mcp-servers.ts"),
    import("../../runtimes/mcp/kept-content.ts"),
  ]);
  const options = {
    findPins: (key: string): LockedServer | undefined => lock.read().servers?.get(key),
    kept: createKeptContent(toKeptPath(context)),
    onNotice: tell,
    ...(isOpener(runtimes) && { openMcp: () => runtimes.openMcp() }),
  };
  return { client, options };
}

function addSkill(workspace: Workspace, skill: Skill, tell: (notice: McpNotice) => void): void {
  try {
    workspace.addSkill(skill);
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    tell({ server: skill.name, message: cause.message });
  }
}

/** Where this person keeps what servers said. */
export function toKeptPath({ env }: Pick<CliContext, "env">): string {
  return join(resolveKitbagHome(env), "cache", "mcp");
}

function isOpener(runtimes: unknown): runtimes is McpOpener {
  return typeof runtimes === "object" && runtimes !== null && "openMcp" in runtimes;
}

/** Says each thing about servers once. */
function createTeller({ terminal }: Pick<CliContext, "terminal">): (notice: McpNotice) => void {
  const told = new Set<string>();
  return ({ server, message }) => {
    const line = toPrintableLine(`The MCP server ${server}: ${message}`);
    if (told.has(line)) return;
    told.add(line);
    terminal.note(`${line}\n`);
  };
}

/** Makes the function that says what happens at servers while a command runs. */
export function createMcpTeller(context: CliContext): (event: McpEvent) => void {
  const tell = createTeller(context);
  const lock = openProjectLock(context.cwd);
  return (event) => {
    const telling = import("../../mcp/client/add-mcp-servers.ts").then(({ toNotice }) => {
      const notice = toNotice(event, (key) => lock.read().servers?.get(key));
      if (notice !== undefined) tell(notice);
    });
    // A lock that cannot be read was told when the tools were added.
    telling.catch(() => {});
  };
}

/** A source of skills whose skills have the tools of their servers. A skill stays the same object while nothing about it changes. */
export function withServers(source: SkillSource, servers: CliServers, context: CliContext): SkillSource {
  const lock = openProjectLock(context.cwd);
  const known = new WeakMap<object, { readonly pins: unknown; readonly report: SkillReport }>();

  async function complete(loaded: LoadedSkills): Promise<LoadedSkills> {
    const reports = await Promise.all(
      loaded.reports.map(async (report) => {
        if (report.skill?.servers === undefined) return report;
        const pins = lock.read();
        const before = known.get(report.skill);
        if (before?.pins === pins) return before.report;
        const [made = report] = await servers.complete([report]);
        known.set(report.skill, { pins, report: made });
        return made;
      }),
    );
    return { ...loaded, reports };
  }

  return {
    load: async () => complete(await source.load()),
    watch: (onLoad) => source.watch(async (loaded) => onLoad(await complete(loaded))),
  };
}
