import { toolsIn } from "../../forge/live/pipelines.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** What a tool calls while it runs, as far as that is known before. */
export interface Steps {
  /** The tools of a pipeline's steps, also of pipelines in it. */
  readonly tools: readonly RegisteredTool[];
  /** The addresses of those that are not there. */
  readonly missing: readonly string[];
}

/** Finds the tools that a pipeline calls. Any other tool has none. */
export function findSteps(workspace: Pick<Workspace, "getTool">, address: string): Steps {
  const tools = new Map<string, RegisteredTool>();
  const missing = new Set<string>();
  const first = workspace.getTool(address);
  const waiting = first === undefined ? [] : [first];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const step of toolsIn(next.tool)) {
      const found = findStep(workspace, next, step);
      if (found === undefined) missing.add(step);
      else if (!tools.has(step)) {
        tools.set(step, found);
        waiting.push(found);
      }
    }
  }
  return { tools: [...tools.values()], missing: [...missing] };
}

/** Inside a skill a bare name is its own tool first. */
function findStep(
  workspace: Pick<Workspace, "getTool">,
  { owner, source }: RegisteredTool,
  step: string,
): RegisteredTool | undefined {
  const own = source === "global" || step.includes("/") ? undefined : workspace.getTool(`${owner}/${step}`);
  return own ?? workspace.getTool(step);
}

/** Tells whether a tool is there, with all that it calls. */
export function isComplete(workspace: Pick<Workspace, "getTool">, address: string): boolean {
  return workspace.getTool(address) !== undefined && findSteps(workspace, address).missing.length === 0;
}
