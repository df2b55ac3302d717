import { openForge } from "../../forge/open-forge.ts";
import type { Forge } from "../../forge/forge-interface.ts";
import { openRuntimes } from "../../runtimes/open-runtimes.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { CliContext } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";

/** Opens the forge of the working directory for a piece of work. Nothing is started that the work does not need. */
export async function withForge<Result>(context: CliContext, work: (forge: Forge) => Promise<Result>): Promise<Result> {
  const directory = context.cwd;
  const home = resolveKitbagHome(context.env);
  const { forge: { policy } = {} } = await loadTrustedOptions(context);
  const runtimes = openRuntimes({ directory, home });
  const forge = await openForge({
    workspace: createWorkspace({ runtimes }),
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
