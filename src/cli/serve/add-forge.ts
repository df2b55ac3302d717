import { isKitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { Forge, ForgeOptions, ForgePolicy } from "../../forge/forge-interface.ts";
import type { Model } from "../../models/model.ts";
import type { OwnPrices } from "../../models/prices/own-prices.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { FollowedSkills } from "../../workspace/skills/folder-skills.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";

/** What the forge works with. */
export interface ForgeSources {
  readonly workspace: Workspace;
  readonly store: Store | undefined;
  readonly runtimes: Runtimes;
  /** Whoever follows the project's skills; nobody follows anything for one piece of work. */
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
export async function addForge(invocation: Invocation, sources: ForgeSources): Promise<Forge> {
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
  // What lies on this machine is for the person to import, not for whoever talks to a client.
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
  workspace.change(() => {
    // A tool of the project that has the same name goes before ours.
    for (const tool of tools) {
      if (workspace.getTool(tool.name) !== undefined) continue;
      workspace.add(tool, tool.inject.includes("sampling") ? { injected: { sampling: writers.noClient } } : {});
    }
  });
  return forge;
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

/** The offline model writes no programs. A model that cannot be asked keeps nobody from being served. */
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
