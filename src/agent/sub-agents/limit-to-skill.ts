import type { SkillAgentCode } from "../../core/agent-code.ts";
import { toFailure } from "../../core/errors.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Session } from "../../workspace/workspace.ts";

/** Which tools an agent of a skill sees. */
interface SkillView {
  isAllowed(entry: RegisteredTool | undefined): entry is RegisteredTool;
  /** By address, or by its name in the skill. */
  find(address: string): RegisteredTool | undefined;
}

function createView(session: Session, { skill, tools }: Pick<SkillAgentCode, "skill" | "tools">): SkillView {
  const uses = new Set(session.getSkill(skill)?.uses.map(({ address }) => address));
  const isAllowed = (entry: RegisteredTool | undefined): entry is RegisteredTool => {
    if (entry === undefined) return false;
    const { address, owner, tool } = entry;
    if (owner !== skill && !uses.has(address) && !uses.has(tool.name)) return false;
    // One that may call other agents, or itself, says so.
    if (tools === undefined) return tool.code.kind !== "agent";
    return tools.includes(address) || tools.includes(tool.name);
  };
  return {
    isAllowed,
    find(address) {
      const own = session.getTool(`${skill}/${address}`);
      const entry = isAllowed(own) ? own : session.getTool(address);
      return isAllowed(entry) ? entry : undefined;
    },
  };
}

/**
 * A session as an agent of a skill sees it: with that skill alone, and of its tools and those that it declares in `uses` only the ones
 * that the agent's file names. Everything else is not there for it. What it calls is held to the authority of its skill anyway.
 */
export function limitToSkill(session: Session, { skill, tools }: Pick<SkillAgentCode, "skill" | "tools">): Session {
  const lists = new WeakMap<readonly RegisteredTool[], readonly RegisteredTool[]>();
  const { isAllowed, find } = createView(session, { skill, ...(tools && { tools }) });

  return {
    ...session,
    getTool: find,
    isToolAvailable: (address) => {
      const entry = find(address);
      return entry !== undefined && session.isToolAvailable(entry.address);
    },
    getAvailableTools() {
      const all = session.getAvailableTools();
      let list = lists.get(all);
      // The same list while it would be the same: what is made of it is kept by its identity.
      if (list === undefined) lists.set(all, (list = all.filter(isAllowed)));
      return list;
    },
    getToolSource: (address) => {
      const entry = find(address);
      return entry && session.getToolSource(entry.address);
    },
    getSkill: (name) => (name === skill ? session.getSkill(name) : undefined),
    getSkills: () => session.getSkills().filter((state) => state.skill.name === skill),
    async activateSkill(name, options) {
      if (name === skill) return session.activateSkill(name, options);
      return { status: "failed", error: toFailure("skill-not-found", { skill: name, nearest: [skill], count: 1 }) };
    },
    search: (query, options) =>
      session
        .search(query, options)
        .filter(({ kind, address }) => (kind === "skill" ? address === skill : find(address) !== undefined)),
    getActiveSkillTools: () => session.getActiveSkillTools().filter(isAllowed),
    // Its file is all that it is told: the text of the skill is for the agent that calls it.
    renderCatalog: () => ({ text: "", shortened: [], omitted: [] }),
    activeInstructions: () => "",
    call: (async (tool: string, input?: unknown, options?: CallOptions) => {
      const entry = find(tool);
      if (entry !== undefined) return session.call(entry.address, input, options);
      return { status: "failed", error: toFailure("tool-not-found", { tool, nearest: [], count: 0 }) };
    }) as Session["call"],
  };
}
