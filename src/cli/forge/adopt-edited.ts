import { userInfo } from "node:os";
import { basename, dirname, join } from "node:path";

import type { Skill } from "../../core/skill.ts";
import type { Forge, ForgeAnswer, ForgedTool } from "../../forge/forge-interface.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { type CliContext, usageError } from "../cli-command.ts";
import type { LookedAtSkill } from "../config/find-trust-target.ts";

/** A tool that was made in a project, and whose files were changed by hand. */
export interface EditedTool {
  readonly looked: LookedAtSkill;
  /** The project that it belongs to. */
  readonly project: string;
}

/**
 * Refuses a tool that was made and cannot be read any more: what would be trusted are the copies of its versions.
 *
 * @throws {KitbagError} `usage-invalid`
 */
export async function refuseBroken(path: string, context: CliContext): Promise<void> {
  const project = dirname(dirname(dirname(path)));
  const name = basename(path);
  if (path !== join(project, ".kitbag", "tools", name)) return;
  const isMeant = (tool: ForgedTool): boolean =>
    tool.name === name && tool.status === "broken" && tool.version === undefined;
  const broken = await inForge({ ...context, cwd: project }, async (forge) => forge.listTools().find(isMeant));
  if (broken === undefined) return;
  const reasons = broken.diagnostics.map(({ message, cure }) => (cure === undefined ? message : `${message}; ${cure}`));
  throw usageError(`Cannot trust ${path}: ${reasons.join("\n")}`);
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

/**
 * Makes the next version of what was written by hand, if its examples pass: exactly of what the person was shown. A pipeline finds the
 * tools of the project's skills.
 */
export async function adoptEdited(
  { looked, project }: EditedTool,
  others: readonly SkillReport[],
  context: CliContext,
): Promise<ForgeAnswer> {
  const name = nameOf(looked);
  const { digest } = looked.folder;
  const work = async (forge: Forge): Promise<ForgeAnswer> => {
    await openSteps(forge, name);
    return forge.adoptTool(name, { digest, author: userInfo().username });
  };
  const skills = others.flatMap(({ skill }) => skill ?? []);
  return inForge({ ...context, cwd: project }, work, skills);
}

/** Opens the skills whose tools a pipeline calls, as its callers must. */
async function openSteps({ workspace, readDraft }: Forge, name: string): Promise<void> {
  const draft = await readDraft(name).catch(() => undefined);
  const steps = draft !== undefined && "steps" in draft ? draft.steps : [];
  const owners = steps.flatMap(({ tool }) => (typeof tool === "string" ? (workspace.getTool(tool) ?? []) : []));
  for (const { source, owner } of owners) if (source === "skill") await workspace.activateSkill(owner);
}

function nameOf({ folder }: LookedAtSkill): string {
  return basename(folder.directory);
}

/** Most of what is trusted is no tool that was made: then nothing that makes them is loaded. */
async function inForge<Result>(
  context: CliContext,
  work: (forge: Forge) => Promise<Result>,
  skills: readonly Skill[] = [],
): Promise<Result> {
  const { withForge } = await import("./with-forge.ts");
  return withForge(context, work, skills);
}
