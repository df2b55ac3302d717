import type { Agent } from "../../agent/agent-interface.ts";
import type { ExposureName, RunLimits } from "../../agent/agent-options.ts";
import { isKitbagError } from "../../core/errors.ts";
import { guardsOnlyAt } from "../../core/guards.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { Model } from "../../models/model.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { openSealer, type Sealer } from "../../records/audit/audit-keys.ts";
import type { Approve } from "../../workspace/call/call-options.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { createConfigured } from "../config/open-workspace.ts";
import { startLog } from "../logs/start-log.ts";
import { getText, getTexts } from "../options.ts";
import { noteUntrusted } from "../skills/load-reports.ts";
import { openWithSkills, type Sources, type WorkspaceWithSkills } from "../skills/open-with-skills.ts";
import { checkKeyKept, toKeyFile } from "../store/audit-files.ts";
import { findNamedStore } from "../store/choose-store.ts";
import { createLocalScopes } from "../serve/tokens.ts";
import type { Records } from "../store/open-records.ts";
import { withRecords } from "../store/with-records.ts";
import { checkModel, chooseModel } from "./agent-options.ts";
import { toOrigin } from "./runs/run-origin.ts";

/** An agent on the workspace of a command, and what it is made of. */
export interface OpenAgent {
  readonly agent: Agent;
  readonly workspace: Workspace;
  /** Where runs are kept; none with `--store none`. */
  readonly store: Store | undefined;
  readonly model: Model | string;
  /** Whose runs they are. */
  readonly user: string | undefined;
  /** Set if the configuration decides about approvals. */
  readonly approve: Approve | undefined;
}

/** What a command says about its agent. */
export interface AgentWishes {
  /** Folders with skills beside those that the person names. */
  readonly directories?: readonly string[];
  /** Whether interpreters are kept ready: worth it for a conversation. @default false */
  readonly warm?: boolean;
  readonly exposure?: ExposureName;
  readonly limits?: Partial<RunLimits>;
  /** Whether a model is needed at all. @default true */
  readonly asksModel?: boolean;
}

/** Does `work` with an agent, and closes all that was opened for it. */
export async function withAgent(
  invocation: Invocation,
  wishes: AgentWishes,
  work: (open: OpenAgent) => Promise<Answer>,
): Promise<Answer> {
  return withRecords(invocation, { warm: wishes.warm ?? false }, async ({ records, runtimes }) => {
    const directories = [...getTexts(invocation.options, "skills"), ...(wishes.directories ?? [])];
    const module = getText(invocation.options, "module");
    const sources = { runtimes, complete: records.complete, module, directories };
    const { exposure } = wishes;
    const origin = toOrigin(invocation, { skills: directories, ...(exposure !== undefined && { exposure }) });
    return work(await openAgent(invocation, wishes, { sources, records, origin }));
  });
}

interface AgentSources {
  readonly sources: Sources;
  readonly records: Records;
  /** Kept with every run. */
  readonly origin: JsonObject | undefined;
}

async function openAgent(
  invocation: Invocation,
  { exposure, limits, asksModel = true }: AgentWishes,
  { sources, records, origin }: AgentSources,
): Promise<OpenAgent> {
  const opened = await openTools(invocation, sources);
  const { workspace, options, reports, prices } = opened;
  const model = chooseModel(invocation, opened.model);
  if (asksModel) await checkModel(model, invocation.env);
  await startLog(workspace, options, invocation);
  records.keepVersions(workspace);
  noteUntrusted(reports, invocation.terminal);
  const { createAgent } = await import("../../agent/create-agent.ts");
  const { store, approve } = options;
  const audit = store && (options.audit ?? (await openOwnSealer(invocation)));
  const agent = createAgent({
    model,
    workspace,
    ...(store !== undefined && { store }),
    ...(audit !== undefined && { audit }),
    // The workspace has them look at calls, whoever makes them.
    guards: guardsOnlyAt(options.guards ?? [], ["task", "answer"]),
    scopesOf: createLocalScopes(invocation, records.user),
    ...(prices !== undefined && { prices }),
    ...(origin !== undefined && { origin }),
    ...(exposure !== undefined && { exposure }),
    ...(limits !== undefined && { limits }),
  });
  return { agent, workspace, store, model, user: records.user, approve };
}

/** The configuration has a store and no audit: the person's own key says which decisions count. What is in memory is of this process. */
async function openOwnSealer(invocation: Invocation): Promise<Sealer | undefined> {
  if (findNamedStore(invocation)?.kind === "memory") return undefined;
  const home = resolveKitbagHome(invocation.env);
  checkKeyKept(home);
  return openSealer({ keyFile: toKeyFile(home) }, { make: true });
}

/** Who only wants to talk needs neither a configuration nor skills. */
async function openTools(invocation: Invocation, sources: Sources): Promise<WorkspaceWithSkills> {
  try {
    return await openWithSkills(invocation, sources);
  } catch (cause) {
    if (!isKitbagError(cause, "config-missing")) throw cause;
    return { ...(await createConfigured({}, sources, invocation.cwd)), reports: [], forged: [] };
  }
}
