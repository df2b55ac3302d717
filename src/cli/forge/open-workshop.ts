import { isKitbagError } from "../../core/errors.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Forge, ForgeOptions } from "../../forge/forge-interface.ts";
import type { CodeRuntime } from "../../runtimes/code/code-runtime.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { FollowedSkills } from "../../workspace/skills/folder-skills.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { type Additions, createConfigured, openWorkspace, type OpenWorkspace } from "../config/open-workspace.ts";
import { startLog } from "../logs/start-log.ts";
import { type CliServers, openServers } from "../mcp/open-servers.ts";
import { getText, getTexts } from "../options.ts";
import type { CliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { addForge } from "../serve/add-forge.ts";
import { loadReports } from "../skills/load-reports.ts";
import { addSkills as addFoundSkills } from "../skills/open-with-skills.ts";
import type { OpenRecords } from "../store/with-records.ts";

/** How a workshop is opened. */
export interface WorkshopWishes {
  /** Whether tools may be made. */
  readonly hasForge: boolean;
  /** Asked when a tool wants more than the policy grants. @default it waits */
  readonly approve?: ForgeOptions["approve"];
  /** The scopes that users have now. @default those of when they made a tool */
  readonly scopesOf?: WorkspaceOptions["scopesOf"];
  /** How many calls of one user run at once, if the configuration says nothing. @default as many as there are */
  readonly maxPerUser?: number | undefined;
  /** Adds the skills of the project, closed; answers what follows them. @default adds them, with those of `--skills`, as they are now */
  addSkills?(opened: OpenWorkspace, servers: CliServers): Promise<FollowedSkills | undefined>;
}

/** A workspace with the tools and skills of a project, and the tools with which more are made. */
export interface Workshop extends Omit<OpenWorkspace, "forge"> {
  readonly forge: Forge | undefined;
  /** Closes what was opened for it, the skills too. */
  close(): Promise<void>;
}

/** Opens the tools and skills of a project, code mode and the forge. */
export async function openWorkshop(
  invocation: Invocation,
  open: OpenRecords,
  wishes: WorkshopWishes & { readonly hasForge: true },
): Promise<Workshop & { readonly forge: Forge }>;
export async function openWorkshop(
  invocation: Invocation,
  open: OpenRecords,
  wishes: WorkshopWishes,
): Promise<Workshop>;
export async function openWorkshop(
  invocation: Invocation,
  { records, runtimes }: OpenRecords,
  { hasForge, approve, scopesOf, maxPerUser, addSkills = createAddition(invocation) }: WorkshopWishes,
): Promise<Workshop> {
  const code = createCodeMode(runtimes);
  const complete: Additions["complete"] = (given) =>
    records.complete({
      ...(scopesOf !== undefined && { scopesOf }),
      ...given,
      limits: { ...(maxPerUser !== undefined && { maxPerUser }), ...given.limits },
    });
  const additions = { runtimes: withRuntime(runtimes, code.runtime), complete };
  const opened = await openTools(invocation, additions);
  const { workspace, options, mcp, model, prices, forge: made } = opened;
  await startLog(workspace, options, invocation);
  const servers = openServers(invocation, runtimes);
  await servers.add(workspace, mcp);
  const followed = await addSkills(opened, servers);
  await code.addTool(workspace);
  const { store } = options;
  const forge = hasForge
    ? await addForge(invocation, { workspace, store, runtimes, followed, model, prices, approve, ...made })
    : undefined;
  records.keepVersions(workspace);
  return {
    ...opened,
    forge,
    async close() {
      await forge?.close();
      await followed?.close();
      await code.close();
    },
  };
}

/** Adds the skills of the project, and of the folders that the person named. */
function createAddition(invocation: Invocation): NonNullable<WorkshopWishes["addSkills"]> {
  return async ({ workspace }, servers) => {
    const reports = await loadReports(invocation, getTexts(invocation.options, "skills"));
    addFoundSkills(workspace, await servers.complete(reports));
    return undefined;
  };
}

/** Nothing of the runtimes is asked for before it is known what is configured about them. */
function withRuntime(runtimes: CliRuntimes, more: Runtime): NonNullable<Additions["runtimes"]> {
  return {
    *[Symbol.iterator]() {
      yield* runtimes;
      yield more;
    },
    usePackages: runtimes.usePackages,
  };
}

/** A project needs neither a configuration nor skills: tools and skills can also be made in it. */
async function openTools(invocation: Invocation, additions: Additions): Promise<OpenWorkspace> {
  try {
    return await openWorkspace(invocation, getText(invocation.options, "module"), additions);
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    return createConfigured({}, additions, invocation.cwd);
  }
}

/** What runs the programs of models. */
interface CodeMode {
  readonly runtime: Runtime;
  /** Adds `execute_code`, unless the project has a tool of this name. */
  addTool(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

/** Makes code mode. Nothing of it is loaded before the first program, and no sandbox is looked for before one in Python. */
function createCodeMode(runtimes: Runtimes): CodeMode {
  const loaded = new Map<boolean, Promise<CodeRuntime>>();
  const load = async (isPython: boolean): Promise<CodeRuntime> => {
    const { codeRuntime } = await import("../../runtimes/code/code-runtime.ts");
    const sandbox = isPython ? { sandbox: await runtimes.findSandbox() } : {};
    return codeRuntime({ tools: ({ availableTools }) => availableTools(), ...sandbox });
  };
  const find = async (isPython: boolean): Promise<CodeRuntime> => {
    const known = loaded.get(isPython) ?? load(isPython);
    loaded.set(isPython, known);
    return known.catch((cause: unknown) => {
      // A sandbox that is missing may be installed before the next program.
      loaded.delete(isPython);
      throw cause;
    });
  };

  return {
    runtime: {
      kind: "code",
      async run(tool, input, context) {
        const isPython = (input as { readonly language?: unknown }).language === "python";
        return (await find(isPython)).run(tool, input, context);
      },
    },
    async addTool(workspace) {
      if (workspace.getTool("execute_code") !== undefined) return;
      const { createServedCodeTool } = await import("../serve/create-served-code-tool.ts");
      workspace.add(createServedCodeTool());
    },
    async close() {
      await Promise.allSettled([...loaded.values()].map(async (runtime) => (await runtime).close()));
    },
  };
}
