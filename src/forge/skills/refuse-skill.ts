import { toRealPath } from "../../platform/paths.ts";
import { refuseDraft, refuseWith } from "../birth/answer.ts";
import { findTwin } from "../drafts/check-name.ts";
import type { RefusedTool, SkillChangeOptions, UpdateOptions } from "../forge-interface.ts";
import type { ForgeParts } from "../forge-parts.ts";
import { keepSkillByHand, toSkillConflict } from "./skill-writer.ts";
import type { StoredSkill } from "./stored-skill.ts";

/** Why a draft cannot have this name: there is a skill of it, which is not to be replaced, or was not made here. */
export function refuseSkillName(
  { workspace }: ForgeParts,
  stored: StoredSkill,
  { replace = false }: SkillChangeOptions,
): RefusedTool | undefined {
  const { name, live, versions, current } = stored;
  const refuse = (message: string): RefusedTool => toRefusal(name, "name-taken", message);
  const known = workspace.getSkills().map(({ skill }) => skill.name);
  const twin = findTwin(name, known);
  if (twin !== undefined && twin !== name)
    return refuse(`there is "${twin}", which is the same name where case does not count`);
  if (!known.includes(name) && live === undefined) return undefined;
  if (!isMade({ workspace }, stored)) {
    const place =
      live === undefined ? "there is already a skill of this name" : `.kitbag/skills/${name} is there already`;
    return refuse(replace ? `${place}, which was not made here; take another name` : `${place}; take another name`);
  }
  if (replace) return undefined;
  const version = current?.label ?? versions.at(-1)?.label ?? "";
  return refuse(
    `there is already a skill of this name (${version}); to make its next version give "replace": true, or take another name`,
  );
}

/** Tells whether a skill that is there was made here: it is in the folder of the forge, which has its versions. */
export function isMade(
  { workspace }: Pick<ForgeParts, "workspace">,
  { name, live, versions, target }: StoredSkill,
): boolean {
  const place = workspace.getSkill(name)?.folder?.directory;
  return live !== undefined && versions.length > 0 && (place === undefined || place === toRealPath(target));
}

/**
 * Settles what is there before it is changed: what somebody wrote by hand and trusted is kept as a version. Answers with the refusal
 * if nobody has trusted it, or if it is not the version that the editor saw.
 */
export async function refuseUnsettled(
  parts: ForgeParts,
  stored: StoredSkill,
  { expectedVersion }: UpdateOptions,
): Promise<StoredSkill | RefusedTool> {
  const { name, live, current } = stored;
  const isByHand = live !== undefined && current === undefined;
  if (isByHand && !parts.trust.mayRun(live)) {
    const place = `.kitbag/skills/${name}`;
    const message = `somebody changed the files of ${place} by hand, and nobody has trusted them; read them, then run: kitbag trust ${place}`;
    return toRefusal(name, "skill-untrusted", message);
  }
  const settled = isByHand ? await keepSkillByHand(parts, stored, live) : stored;
  const label = settled.current?.label ?? "none";
  if (expectedVersion === undefined || expectedVersion === label) return settled;
  return refuseWith(name, toSkillConflict(settled, expectedVersion));
}

function toRefusal(name: string, code: string, message: string): RefusedTool {
  return refuseDraft(name, [{ severity: "error", code, message, file: "draft" }]);
}
