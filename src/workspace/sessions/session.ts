import type { CallMethods } from "../call-methods.ts";
import type { ToolMethods } from "../tool-methods.ts";
import type { SkillMethods } from "../skills/skill-methods.ts";

/** What is looked up among tools, by somebody who has some skills open. */
export type ToolQueries = Pick<ToolMethods, "getTool" | "isToolAvailable" | "getAvailableTools" | "getToolSource">;

/** What can be done with skills by somebody who has some of them open. */
export type SkillUses = Omit<SkillMethods, "addSkill" | "replaceSkill" | "removeSkill" | "getAllSkillToolStates">;

/**
 * A view of a workspace with open skills of its own: one for each conversation, run or client. It begins with what is open in the
 * workspace and then goes its own way: what it opens is available in its own calls, and in the calls inside them, and nowhere else.
 * Tools and skills themselves are the workspace's.
 *
 * **Contract**: its methods are those of the workspace, about what is open here; `onChange` tells what changes here. A skill's `onActivate` runs when the first of the
 * workspace and its sessions opens it, `onDeactivate` when the last one closes it. Whoever opens a session closes it.
 */
export interface Session extends CallMethods, ToolQueries, SkillUses {
  /**
   * Closes the skills that are open here. Nothing is available any more, and every call fails with `session-closed`; calls that are
   * running finish, and what is being opened is given up. Resolves when `onDeactivate` of the skills that nobody else has open is
   * over. Closing it again does nothing.
   */
  close(): Promise<void>;
}
