import type { Store } from "../../core/store.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { createVersions } from "../../records/versions/versions.ts";
import { fromSkill } from "../../workspace/versions/to-version-source.ts";

/** Keeps a skill as it is now, before something else takes its place. One that cannot be read has nothing to be kept. */
export async function keepReplaced(store: Store, { skill }: SkillReport): Promise<void> {
  if (skill?.folder === undefined) return;
  await createVersions(store).keep(skill.name, fromSkill(skill), {
    ...(skill.version !== undefined && { label: skill.version }),
  });
}
