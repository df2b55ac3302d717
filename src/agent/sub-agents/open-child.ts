import { isSkillAgent, type SkillAgentCode } from "../../core/agent-code.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { AgentParts } from "../agent-parts.ts";
import { type AgentTarget, isAgentTool, isHandoff } from "./agent-target.ts";
import { limitToSkill } from "./limit-to-skill.ts";

/** What is behind a tool that is an agent, for a run of `around` that calls it. Its runs are kept where those of `around` are. */
export function openChild(around: AgentParts, { name, code }: Tool): AgentTarget {
  if (isAgentTool(code)) {
    const target = code.open();
    return { ...target, agent: keepWith(around, target.agent) };
  }
  if (isSkillAgent(code)) return openSkillAgent(around, code);
  throw new KitbagError("tool-failed", { tool: name, reason: "it is no agent" });
}

/** The agent that a handoff gives the conversation to. */
export function openNext(around: AgentParts, { name, code }: Tool): AgentParts {
  if (isHandoff(code)) return keepWith(around, code.next());
  throw new KitbagError("tool-failed", { tool: name, reason: "it is no handoff" });
}

/**
 * Finds the agent of a run below other runs, by the addresses of the tools from the outermost agent to it.
 *
 * @throws {KitbagError} `run-incomplete` if one of them is not there any more.
 */
export function followPath(agent: AgentParts, run: string, path: readonly string[]): AgentParts {
  let found = agent;
  for (const address of path) {
    const tool = found.options.workspace.getTool(address)?.tool;
    if (tool?.code.kind !== "agent") {
      throw new KitbagError("run-incomplete", {
        run,
        missing: `the agent ${address}`,
        reason: "the run was made with it, and there is no such agent now",
      });
    }
    found = isHandoff(tool.code) ? openNext(found, tool) : openChild(found, tool).agent;
  }
  return found;
}

/** The same agent, whose runs are kept where those of `around` are: a tree of runs is in one store. */
function keepWith(around: AgentParts, agent: AgentParts): AgentParts {
  const { store: _store, audit: _audit, ...own } = agent.options;
  const { store, audit } = around.options;
  const options = { ...own, ...(store !== undefined && { store }), ...(audit !== undefined && { audit }) };
  return { ...agent, runs: around.runs, options };
}

/** An agent of a skill is the calling agent with other instructions, which sees the tools of its skill alone. */
function openSkillAgent(around: AgentParts, code: SkillAgentCode): AgentTarget {
  // The caller's approvals hold for it anyway, and what it says is no conversation to remember.
  const { approve: _approve, memory = {}, ...others } = around.options;
  const { longTerm: _longTerm, ...ownMemory } = memory;
  const options = { ...others, memory: ownMemory };
  const limit = (session: Session): Session => limitToSkill(session, code);
  const agent: AgentParts = { ...around, options: { ...options, instructions: code.instructions }, limit };
  return { agent, options: { skills: [code.skill] }, toTask: (input) => (input as { readonly task: string }).task };
}
