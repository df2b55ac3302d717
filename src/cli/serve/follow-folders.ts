import { followSkills, type FollowedSkills } from "../../workspace/skills/follow-skills.ts";
import { createSkillSource } from "../../workspace/skills/load-workspace-skills.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { SkillSource } from "../../skills/watch/skill-source.ts";
import type { CliContext } from "../cli-command.ts";
import { withServers, type CliServers } from "../mcp/open-servers.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { toFindOptions } from "../skills/find-options.ts";
import { toLoadOptions } from "../skills/load-reports.ts";
import { noteUntrusted } from "../skills/note-untrusted.ts";
import { usageError } from "../usage-error.ts";

/**
 * Adds the skills that are found to a workspace, closed, and keeps them as their folders are from now on.
 *
 * @throws {KitbagError} `usage-invalid` if a folder that was named is not there.
 */
export async function followFolders(
  context: CliContext,
  workspace: Workspace,
  { directories, servers }: { readonly directories: readonly string[]; readonly servers: CliServers },
): Promise<FollowedSkills> {
  const { onProgress: _, ...options } = toLoadOptions(context, directories);
  const source = createSkillSource({ ...options, ...toFindOptions(context, directories) });
  const followed = await followSkills(workspace, checkFirst(withServers(source, servers, context), context));
  noteUntrusted(followed.reports(), context.terminal);
  let skipped = toSkipped(followed.reports());
  followed.onReload((reports) => {
    const now = toSkipped(reports);
    for (const line of now) if (!skipped.has(line)) context.terminal.note(line);
    skipped = now;
  });
  return followed;
}

/** What is wrong at the start is said, and a folder that was named must be there; later it may come and go. */
function checkFirst(source: SkillSource, { terminal }: CliContext): SkillSource {
  let isFirst = true;
  return {
    load: () => source.load(),
    watch: (onLoad) =>
      source.watch(async (loaded) => {
        const missing = loaded.diagnostics.find(({ code }) => code === "folder-missing");
        if (isFirst && missing !== undefined) throw usageError(missing.message);
        if (isFirst) for (const { message } of loaded.diagnostics) terminal.note(`${toPrintable(message)}\n`);
        isFirst = false;
        await onLoad(loaded);
      }),
  };
}

/** One line for each skill that is not as its folder says. */
function toSkipped(reports: readonly SkillReport[]): ReadonlySet<string> {
  return new Set(
    reports.flatMap(({ name, status, diagnostics }) => {
      const problem = diagnostics.find(({ severity }) => severity === "error") ?? diagnostics[0];
      if (status === "ok" || problem === undefined) return [];
      return [`${toPrintableLine(`The skill ${name}: ${problem.message}`)}\n`];
    }),
  );
}
