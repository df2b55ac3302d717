import type { Store } from "../../core/store.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import type { FollowedSkills } from "../../workspace/skills/follow-skills.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";

/** What the forge works with. */
export interface ForgeSources {
  readonly workspace: Workspace;
  readonly store: Store | undefined;
  readonly runtimes: Runtimes;
  readonly followed: FollowedSkills;
}

/** Makes the tools of the project's `.kitbag/tools` live, and adds the tools with which clients make more. */
export async function addForge(invocation: Invocation, sources: ForgeSources): Promise<Forge> {
  const { workspace, store, runtimes, followed } = sources;
  const [{ openForge }, { createForgeTools }, { createImportTool }, { createWorkflowTools }] = await Promise.all([
    import("../../forge/open-forge.ts"),
    import("../../forge/tools/create-forge-tools.ts"),
    import("../../forge/import/create-import-tool.ts"),
    import("../../forge/workflow/create-workflow-tools.ts"),
  ]);
  const directory = invocation.cwd;
  const home = resolveKitbagHome(invocation.env);
  const kept = store === undefined ? {} : { store };
  const forge = await openForge({ workspace, directory, home, runtimes, followed, ...kept });
  // What lies on this machine is for the person to import, not for whoever talks to a client.
  const tools = [
    ...createForgeTools(forge),
    ...createWorkflowTools(forge, kept),
    createImportTool({ directory, home, allowLocal: false, ...kept }),
  ];
  workspace.change(() => {
    // A tool of the project that has the same name goes before ours.
    for (const tool of tools) if (workspace.getTool(tool.name) === undefined) workspace.add(tool);
  });
  return forge;
}
