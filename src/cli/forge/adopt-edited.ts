import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";

import type { Forge, ForgeAnswer } from "../../forge/forge-interface.ts";
import type { CliContext } from "../cli-command.ts";
import type { LookedAtSkill } from "../config/look-at-skills.ts";

/** A tool that was made in a project, and whose files somebody changed by hand. */
export interface EditedTool {
  readonly looked: LookedAtSkill;
  /** The project that it belongs to. */
  readonly project: string;
}

/** Which of these folders are tools that were made, and changed by hand since. */
export async function findEdited(
  skills: readonly LookedAtSkill[],
  context: CliContext,
): Promise<readonly EditedTool[]> {
  const tools = skills.flatMap((looked) => {
    const project = dirname(dirname(dirname(looked.folder.directory)));
    return looked.folder.directory === join(project, ".kitbag", "tools", nameOf(looked)) ? [{ looked, project }] : [];
  });
  const isEdited = async ({ looked, project }: EditedTool): Promise<boolean> =>
    inForge({ ...context, cwd: project }, async (forge) =>
      forge
        .listTools()
        .some(({ name, status, editedByHand }) => name === nameOf(looked) && status !== "deleted" && editedByHand),
    );
  const edited: EditedTool[] = [];
  for (const tool of tools) if (await isEdited(tool)) edited.push(tool);
  return edited;
}

/** Makes the next version of what was written by hand, if its examples pass: exactly of what the person was shown. */
export async function adoptEdited({ looked, project }: EditedTool, context: CliContext): Promise<ForgeAnswer> {
  const { digest } = looked.folder;
  return inForge({ ...context, cwd: project }, (forge) =>
    forge.adoptTool(nameOf(looked), { digest, author: userInfo().username }),
  );
}

function nameOf({ folder }: LookedAtSkill): string {
  return basename(folder.directory);
}

/** Most of what is trusted is no tool that was made: then nothing that makes them is loaded. */
async function inForge<Result>(context: CliContext, work: (forge: Forge) => Promise<Result>): Promise<Result> {
  const { withForge } = await import("./with-forge.ts");
  return withForge(context, work);
}
