import type { LongTermMemory } from "../../agent/memory/long-term/long-term-memory.ts";
import type { Agent } from "../../agent/agent-interface.ts";
import type { AgentOptions, ExposureName, RunLimits } from "../../agent/agent-options.ts";
import { guardsOnlyAt } from "../../core/guards.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { Model } from "../../models/model.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { openSealer, type Sealer } from "../../records/audit/audit-keys.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import { noteUntrusted } from "../skills/load-reports.ts";
import { checkKeyKept, toKeyFile } from "../store/audit-files.ts";
import { findNamedStore } from "../store/choose-store.ts";
import { createLocalScopes } from "../serve/tokens.ts";
import { openProject, type Project } from "../open-project.ts";
import { checkModel, chooseModel } from "./agent-options.ts";
import { toOrigin } from "./runs/run-origin.ts";

/** An agent on the workspace of a command, and what it is made of. */
export interface OpenAgent {
  readonly agent: Agent;
  readonly workspace: Workspace;
  /** Where runs are kept; none with `--store none`. */
  readonly store: Store | undefined;
  readonly model: Model | string;
  /** What is remembered across conversations, if anything is. */
  readonly longTerm: LongTermMemory | undefined;
  /** Whose runs they are. */
  readonly user: string | undefined;
  /** Set if the configuration decides about approvals. */
  readonly approve: Approve | undefined;
  /** Gets ready for the first calls of these tools, as far as that can be done without running them. */
  prepare(tools: Iterable<Tool>): Promise<void>;
  /** Closes the project of the agent. */
  close(): Promise<void>;
}

/** What a command says about its agent. */
export interface OpenAgentOptions {
  /** Folders with skills beside those that the person names. */
  readonly directories?: readonly string[];
  /** Whether interpreters are kept ready: worth it for a conversation. @default false */
  readonly warm?: boolean;
  readonly exposure?: ExposureName;
  readonly limits?: Partial<RunLimits>;
  /** Whether a model is needed at all. @default true */
  readonly asksModel?: boolean;
  /** Whether what is said is remembered across conversations. @default false */
  readonly remembers?: boolean;
}

/** Opens a project, and an agent on its tools. The caller closes it. */
export async function openAgent(invocation: Invocation, wanted: OpenAgentOptions): Promise<OpenAgent> {
  const project = openProject(invocation, { warm: wanted.warm ?? false });
  try {
    const { runtimes } = project;
    const ways = { prepare: async (tools: Iterable<Tool>) => runtimes.prepare(tools), close: () => project.close() };
    return { ...(await openOn(project, wanted)), ...ways };
  } catch (cause) {
    await project.close();
    throw cause;
  }
}

async function openOn(
  project: Project,
  { exposure, limits, directories = [], asksModel = true, remembers = false }: OpenAgentOptions,
): Promise<Omit<OpenAgent, "close" | "prepare">> {
  const { invocation, records } = project;
  // Who only wants to talk needs neither a configuration nor skills.
  const { workspace, options, reports, prices, ...opened } = await project.open({
    directories,
    mayBeEmpty: true,
    offersShipped: true,
  });
  const model = chooseModel(invocation, opened.model);
  const asked = await findAsked(model, invocation.env, asksModel);
  noteUntrusted(reports, invocation.terminal);
  const { store, approve } = options;
  const skills = [...getTexts(invocation.options, "skills"), ...directories];
  const longTerm = remembers && store !== undefined ? await addMemory(invocation, store, workspace) : undefined;
  const told = { ...(exposure !== undefined && { exposure }), ...(longTerm !== undefined && { remembers }) };
  const origin = toOrigin(invocation, { skills, ...told });
  const { agent } = await createProjectAgent(invocation, {
    model: asked,
    workspace,
    options,
    scopesOf: createLocalScopes(invocation, records.user),
    ...(prices !== undefined && { prices }),
    ...(origin !== undefined && { origin }),
    ...(exposure !== undefined && { exposure }),
    ...(limits !== undefined && { limits }),
    ...(longTerm !== undefined && { memory: { longTerm } }),
  });
  return { agent, workspace, store, model, longTerm, user: records.user, approve };
}

/** The model of the agent. A command that asks no model needs none that can be asked. @throws {KitbagError} as `checkModel` does */
async function findAsked(model: Model | string, env: Invocation["env"], asksModel: boolean): Promise<Model | string> {
  if (asksModel) await checkModel(model, env);
  if (asksModel || typeof model !== "string") return model;
  const { checkModelName } = await import("../../models/resolve/find-connection.ts");
  try {
    checkModelName(model, env);
    return model;
  } catch {
    return "local";
  }
}

/** Opens the memory across conversations, and adds its skill; one of the project with this name takes its place. */
async function addMemory(invocation: Invocation, store: Store, workspace: Workspace): Promise<LongTermMemory> {
  const { openMemory } = await import("./open-memory.ts");
  const { createMemorySkill } = await import("../../agent/memory/long-term/memory-skill.ts");
  const longTerm = openMemory(invocation, store);
  const skill = createMemorySkill(longTerm);
  if (workspace.getSkill(skill.name) === undefined) workspace.addSkill(skill);
  return longTerm;
}

/** What an agent of a project is made of. */
interface ProjectAgentParts extends Pick<
  AgentOptions,
  "model" | "workspace" | "scopesOf" | "prices" | "origin" | "exposure" | "limits" | "memory"
> {
  /** The options of the workspace. */
  readonly options: WorkspaceOptions;
}

/** Makes an agent on the workspace of a project, with the key that proves decisions about its calls. */
export async function createProjectAgent(
  invocation: Invocation,
  { options: { store, guards = [], ...options }, ...parts }: ProjectAgentParts,
): Promise<{ readonly agent: Agent; readonly audit: Sealer | undefined }> {
  const { createAgent } = await import("../../agent/create-agent.ts");
  const audit = store && (options.audit ?? (await openOwnSealer(invocation)));
  const agent = createAgent({
    ...parts,
    ...(store !== undefined && { store }),
    ...(audit !== undefined && { audit }),
    // The workspace applies the other guards to all calls.
    guards: guardsOnlyAt(guards, ["task", "answer"]),
  });
  return { agent, audit };
}

/** The configuration has a store and no audit: the person's own key says which decisions count. What is in memory is of this process. */
async function openOwnSealer(invocation: Invocation): Promise<Sealer | undefined> {
  if (findNamedStore(invocation)?.kind === "memory") return undefined;
  const home = resolveKitbagHome(invocation.env);
  checkKeyKept(home);
  return openSealer({ keyFile: toKeyFile(home) }, { make: true });
}
