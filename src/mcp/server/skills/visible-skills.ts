import type { Skill } from "../../../core/skill.ts";
import { createDispatchView } from "../../../workspace/dispatch/dispatch-view.ts";
import type { ServedClient } from "../served-client.ts";

type Viewer = Pick<ServedClient, "session">;

/** The skills that a model may know of, with this caller. */
export function findVisibleSkills({ session }: Viewer): readonly Skill[] {
  return createDispatchView(session)
    .skills()
    .filter((skill) => isForCaller(session, skill));
}

/** A skill is for those who may call at least one of its tools; the session has no others. */
export function isForCaller(session: Viewer["session"], { name, tools }: Skill): boolean {
  return tools.length === 0 || tools.some((tool) => session.getTool(`${name}/${tool.name}`) !== undefined);
}
