import { isKitbagError } from "../../core/errors.ts";
import { defineSkill } from "../../core/define-skill.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Skill } from "../../core/skill.ts";
import type { Forge, ForgeOptions, ForgePolicy } from "../../forge/forge-interface.ts";
import type { CodeRuntime } from "../../runtimes/code/code-runtime.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { FollowedSkills } from "../../workspace/skills/folder-skills.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { type Additions, createConfigured, openWorkspace, type OpenWorkspace } from "../config/open-workspace.ts";
import { type CliServers, openServers } from "../mcp/open-servers.ts";
import { getText, getTexts } from "../options.ts";
import type { CliRuntimes } from "../sandbox/open-cli-runtimes.ts";
import { loadReports } from "../skills/load-reports.ts";
import { addSkills as addFoundSkills, type Project, startLog } from "../open-project.ts";
import type { Store } from "../../core/store.ts";
import type { Model } from "../../models/model.ts";
import type { OwnPrices } from "../../models/prices/own-prices.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { toPrintableLine } from "../printable.ts";
import type { Tool } from "../../core/tool.ts";

/** How a workshop is opened. */
export interface WorkshopOptions {
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
  project: Project,
  wanted: WorkshopOptions & { readonly hasForge: true },
): Promise<Workshop & { readonly forge: Forge }>;
export async function openWorkshop(project: Project, wanted: WorkshopOptions): Promise<Workshop>;
export async function openWorkshop(
  { invocation, records, runtimes }: Project,
  { hasForge, approve, scopesOf, maxPerUser, addSkills = createAddition(invocation) }: WorkshopOptions,
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
  addOwnSkill(invocation, workspace, await createCodeSkill());
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
function createAddition(invocation: Invocation): NonNullable<WorkshopOptions["addSkills"]> {
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
    async close() {
      await Promise.allSettled([...loaded.values()].map(async (runtime) => (await runtime).close()));
    },
  };
}

/** What the forge works with. */
interface ForgeSources {
  readonly workspace: Workspace;
  readonly store: Store | undefined;
  readonly runtimes: Runtimes;
  /** Follows the project's skills; missing for a single operation. */
  readonly followed: FollowedSkills | undefined;
  /** The model that the configuration names; it writes tools from descriptions. */
  readonly model: Model | string | undefined;
  /** What models cost, as the configuration says. */
  readonly prices: OwnPrices | undefined;
  /** What tools may be made without asking a person. @default nothing that touches anything */
  readonly policy?: ForgePolicy;
  /** Asked when a tool wants more than the policy grants. @default it waits */
  readonly approve?: ForgeOptions["approve"];
}

/** Makes the tools of the project's `.kitbag/tools` live, and adds the tools with which clients make more. */
async function addForge(invocation: Invocation, sources: ForgeSources): Promise<Forge> {
  const { workspace, store, runtimes, followed, policy, approve } = sources;
  const [{ openForge }, { createForgeTools }, { createImportTool }, { createWorkflowTools }, writers] =
    await Promise.all([
      import("../../forge/open-forge.ts"),
      import("../../forge/tools/create-forge-tools.ts"),
      import("../../forge/import/create-import-tool.ts"),
      import("../../forge/workflow/create-workflow-tools.ts"),
      import("../../mcp/server/calls/client-writer.ts"),
    ]);
  const directory = invocation.cwd;
  const home = resolveKitbagHome(invocation.env);
  const kept = store === undefined ? {} : { store };
  const forge = await openForge({
    workspace,
    directory,
    home,
    runtimes,
    watch: followed !== undefined,
    ...(followed !== undefined && { followed }),
    ...(policy !== undefined && { policy }),
    ...(approve !== undefined && { approve }),
    ...kept,
  });
  // What lies on this machine is for the person to import, not for the users of a client.
  const tools = [
    ...createForgeTools(forge),
    ...createWorkflowTools(forge, {
      ...kept,
      ...(await findPaidModel(invocation, sources)),
      ...(sources.prices !== undefined && { prices: sources.prices }),
      sampling: writers.toClientWriter,
    }),
    createImportTool({ directory, home, allowLocal: false, ...kept }),
  ];
  addOwnSkill(invocation, workspace, createForgeSkill(tools), { injected: { sampling: writers.noClient } });
  return forge;
}

/** Adds a skill of Kitbag's own, closed. A skill of the project that has the same name goes before it. */
function addOwnSkill(
  { terminal }: Invocation,
  workspace: Workspace,
  skill: Skill,
  options: Parameters<Workspace["addSkill"]>[1] = {},
): void {
  if (workspace.getSkill(skill.name) === undefined) return workspace.addSkill(skill, options);
  terminal.note(
    `The skill ${skill.name} of this project goes before Kitbag's own of this name, which is not there now; rename the folder to have both\n`,
  );
}

/** The skill with which a model makes tools and skills. Closed, it costs a client nothing. */
function createForgeSkill(tools: readonly Tool[]): Skill {
  return defineSkill({
    name: "forge",
    description:
      "Makes, changes, tests and imports tools and skills, which are live at once. Open it when no tool does what the work needs, or when a tool that was made here must change.",
    tools,
    workDirection: `Look with search_tools first whether a tool does it already.
- A new tool: plugin:forge/create_tool with code and examples, plugin:forge/create_pipeline to put tools together, or plugin:forge/create_from_template.
- A tool that was made here: plugin:forge/update_tool changes it, plugin:forge/test_tool runs its examples, plugin:forge/rollback_tool brings an earlier version back.
- A kind of work that comes again: plugin:forge/create_skill. Skills of others: plugin:forge/import.
A draft that asks for permissions may wait for a person: tell the user what the answer says. Close this skill when you are done.`,
  });
}

/** The skill with which a model runs programs that call tools. */
export async function createCodeSkill(): Promise<Skill> {
  return defineSkill({
    name: "code",
    description:
      "Runs a program (JavaScript, TypeScript or Python) that calls tools: many calls, loops and filters in one go, of which only the result comes back.",
    tools: [await createServedCodeTool()],
    workDirection:
      'Find the tools with search_tools and detail "typescript", open the skills that they belong to, and give the program to plugin:code/execute_code.',
  });
}

/** The model that writes tools. @throws {KitbagError} `price-unknown` if users have quotas in dollars that it cannot be held to. */
async function findPaidModel(
  invocation: Invocation,
  { workspace: { quotas }, model, prices = {} }: ForgeSources,
): Promise<{ readonly model?: Model }> {
  const found = await findModel(invocation, model);
  const limits = [quotas.each(), ...quotas.named().map((user) => quotas.of(user)?.limits)];
  if (found.model === undefined || !limits.some((one) => typeof one?.dollars === "number")) return found;
  const [{ createPriceOf }, { requirePrice }] = await Promise.all([
    import("../../models/prices/price-of.ts"),
    import("../../agent/model-source.ts"),
  ]);
  const name = `${found.model.provider}/${found.model.modelId}`;
  requirePrice({ model: found.model, name, priceOf: await createPriceOf(found.model, { prices }) }, 0);
  return found;
}

/** The offline model writes no programs. A model that cannot be asked does not keep the service from starting. */
async function findModel(
  { env, terminal }: Invocation,
  model: Model | string | undefined,
): Promise<{ readonly model?: Model }> {
  if (model === undefined || model === "local") return {};
  if (typeof model !== "string") return { model };
  const { resolveModel } = await import("../../models/resolve/resolve-model.ts");
  try {
    return { model: await resolveModel(model, { env }) };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    terminal.note(`${toPrintableLine(`generate_tool fills in templates: ${cause.message}`)}\n`);
    return {};
  }
}

/** Makes the tool that runs programs, as clients get it. */
async function createServedCodeTool(): Promise<Tool> {
  const { createCodeTool, howTo } = await import("../../runtimes/code/create-code-tool.ts");
  // Which tools there are changes with every skill that is opened, and a description that changes costs clients their caches.
  const description = `${howTo} search_tools with detail "typescript" declares the tools that you find.`;
  return createCodeTool({ description, languages: ["javascript", "typescript", "python"] });
}
