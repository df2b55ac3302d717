import { refuseDraft } from "../birth/answer.ts";
import type { LiveSkill, SkillAnswer } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { StoredSkill } from "./stored-skill.ts";

/** Tells all that a caller needs of a skill that is live now. */
export function toLiveSkill(
  { workspace }: Pick<ForgeParts, "workspace">,
  { name, current }: StoredSkill,
  { change, replay, diagnostics = [] }: Partial<Pick<LiveSkill, "change" | "replay" | "diagnostics">> = {},
): SkillAnswer {
  const skill = workspace.getSkill(name);
  if (skill === undefined || current === undefined) {
    const message = "it is not in the workspace; see what is wrong with: kitbag check";
    return refuseDraft(name, [{ severity: "error", code: "skill-unseen", message, file: "SKILL.md" }]);
  }
  const tools = skill.tools.map((tool) => `${name}/${tool.name}`);
  return {
    status: "live",
    name,
    version: current.label,
    path: `.kitbag/skills/${name}`,
    tools,
    howToCall: [
      `Open it: activate_skill {"name": ${JSON.stringify(name)}}`,
      ...tools.map((tool) => `Then call ${tool}`),
    ],
    ...(change !== undefined && { change }),
    ...(replay !== undefined && { replay }),
    diagnostics,
  };
}
