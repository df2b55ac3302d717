import type { Skill } from "../../../core/skill.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import type { ServedClient } from "../client.ts";

/** The skills that a model may know of, with this caller: the session has no others. */
export function findVisibleSkills({ session }: Pick<ServedClient, "session">): readonly Skill[] {
  return createDispatchView(session).skills();
}
