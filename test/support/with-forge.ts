import type { Forge } from "../../src/forge/forge-interface.ts";
import { openForge } from "../../src/forge/open-forge.ts";
import { openRuntimes } from "../../src/runtimes/open-runtimes.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { Project } from "../run-kitbag.ts";

/** Works with the forge of a project, as another program would that uses it. */
export async function withForge<Result>(project: Project, work: (forge: Forge) => Promise<Result>): Promise<Result> {
  const { folder: directory, home } = project;
  const runtimes = openRuntimes({ directory, home });
  const forge = await openForge({ workspace: createWorkspace({ runtimes }), directory, home, runtimes, watch: false });
  try {
    return await work(forge);
  } finally {
    await forge.close();
    await runtimes.close();
  }
}
