import { isKitbagError } from "../../core/errors.ts";
import type { Skill } from "../../core/skill.ts";
import { openForge } from "../../forge/open-forge.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import { openRuntimes } from "../../runtimes/open-runtimes.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";

/**
 * Opens the forge of the working directory for a piece of work, with these skills, closed. Nothing is started that the work does not
 * need.
 */
export async function withForge<Result>(
  context: CliContext,
  work: (forge: Forge) => Promise<Result>,
  skills: readonly Skill[] = [],
): Promise<Result> {
  const directory = context.cwd;
  const home = resolveKitbagHome(context.env);
  const { forge: { policy } = {} } = await loadTrustedOptions(context);
  const runtimes = openRuntimes({ directory, home });
  const workspace = createWorkspace({ runtimes });
  for (const skill of skills) addSkill(workspace, skill);
  const forge = await openForge({
    workspace,
    directory,
    home,
    runtimes,
    watch: false,
    ...(policy !== undefined && { policy }),
  });
  try {
    return await work(forge);
  } finally {
    await forge.close();
    await runtimes.close();
  }
}

/** One that cannot be added has no tools that another could call. */
function addSkill(workspace: Workspace, skill: Skill): void {
  try {
    workspace.addSkill(skill);
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
  }
}
