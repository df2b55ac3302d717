import type { Skill } from "../../core/skill.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** What is live with a tool that is called. */
export interface Called {
  /** The tool; of one of a skill also its other tools. */
  readonly tools: readonly RegisteredTool[];
  readonly skill: Skill | undefined;
  /** The tool that was called, if it is not the live one but an earlier version. */
  readonly earlier?: RegisteredTool | undefined;
}

/** Calls `listener` at the first call of each tool, and at the first after the workspace changed. */
export function onCalled(workspace: Workspace, listener: (called: Called) => void): void {
  const known = new Set<string>();
  workspace.onChange(() => known.clear());
  // A skill that only an agent has open is none of the available ones.
  workspace.onSkillsChange(() => known.clear());
  workspace.onEvent((event) => {
    if (event.type !== "call-start" || known.has(event.tool)) return;
    known.add(event.tool);
    const called = findCalled(workspace, event.tool);
    if (called !== undefined) listener(called);
  });
}

/** Finds what is live with a tool, as it is now; nothing if there is no such tool. */
function findCalled(workspace: Workspace, address: string): Called | undefined {
  const called = workspace.getTool(address);
  if (called === undefined) return undefined;
  const skill = called.source === "skill" ? workspace.getSkill(called.owner) : undefined;
  const live = workspace.getTool(called.address) ?? called;
  const earlier = live.tool === called.tool ? undefined : called;
  if (skill === undefined) return { tools: [live], skill, earlier };
  const open = workspace.getAvailableTools().filter(({ owner }) => owner === skill.name);
  if (open.length > 0) return { tools: open, skill };
  // An agent opens skills for itself: in the workspace they stay closed.
  return { tools: skill.tools.flatMap(({ name }) => workspace.getTool(`${skill.name}/${name}`) ?? []), skill };
}
