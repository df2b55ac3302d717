import type { Session } from "../workspace.ts";
import type { DispatchTool } from "./dispatch-tool.ts";
import { createDispatchView } from "./dispatch-view.ts";
import { readSkillFile, activateSkill, deactivateSkill, listSkills, readSkill } from "./skill-dispatch.ts";
import { callTool, describeTool, searchTools } from "./tool-dispatch.ts";

/** What may be said of dispatch tools. */
export interface DispatchOptions {
  /** How much of a file is read at once, in bytes. @default 16384 */
  readonly pageBytes?: number;
}

/**
 * Makes the few tools with which a model finds, opens and calls everything in a session, while the list of tools that it sees stays
 * the same. They are no way around anything: what `call_tool` calls takes the way of every call.
 */
export function createDispatchTools(session: Session, { pageBytes = 16_384 }: DispatchOptions = {}): DispatchTool[] {
  const view = createDispatchView(session);
  return [
    searchTools(view),
    describeTool(view),
    callTool(view),
    listSkills(view),
    readSkill(view),
    readSkillFile(view, pageBytes),
    activateSkill(view),
    deactivateSkill(view),
  ];
}
