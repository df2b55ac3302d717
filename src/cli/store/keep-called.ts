import type { Store } from "../../core/store.ts";
import { createVersions, type VersionNotes } from "../../store/versions/versions.ts";
import type { VersionSource } from "../../store/versions/content.ts";
import { fromSkill, fromTool } from "../../workspace/versions/to-version-source.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/**
 * Keeps the version of a tool; of one of a skill also that of the skill, and of its other tools, which were live with it. What
 * cannot be kept is told: the call that it belongs to is recorded all the same, with its digest.
 */
export async function keepCalled(
  workspace: Workspace,
  address: string,
  { store, onError }: { readonly store: Store; readonly onError: (cause: unknown, address: string) => void },
): Promise<void> {
  const called = workspace.getTool(address);
  if (called === undefined) return;
  const versions = createVersions(store);
  const skill = called.source === "skill" ? workspace.getSkill(called.owner) : undefined;
  const open = workspace.getAvailableTools().filter(({ owner }) => owner === skill?.name);
  // An agent opens skills for itself: in the workspace they stay closed.
  const closed = skill?.tools.flatMap(({ name }) => workspace.getTool(`${skill.name}/${name}`) ?? []) ?? [];
  const tools = open.length > 0 ? open : closed;
  const keep = async (name: string, source: VersionSource, label: string | undefined): Promise<void> => {
    const notes: VersionNotes = label === undefined ? {} : { label };
    await versions.keep(name, source, notes).catch((cause: unknown) => onError(cause, name));
  };
  for (const one of skill === undefined ? [called] : tools) {
    await keep(one.address, fromTool(one.tool), one.tool.version);
  }
  if (skill !== undefined) await keep(skill.name, fromSkill(skill), skill.version);
}
