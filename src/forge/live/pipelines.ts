import type { Tool } from "../../core/tool.ts";
import type { DefinePipelineOptions } from "../../runtimes/pipeline/define-pipeline.ts";
import type { PipelineCode } from "../../runtimes/pipeline/pipeline-runtime.ts";
import type { ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { toolDigest } from "../../workspace/registry/tool-digest.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** Lets pipelines find their tools in a workspace. */
export function toPipelineOptions(workspace: Workspace): DefinePipelineOptions {
  return {
    resolve: (address) => workspace.getTool(address)?.tool,
    known: workspace.getAvailableTools().map(({ address }) => address),
  };
}

/** The tools of a manifest's steps, as they are now: what a pipeline is follows from them. */
export function stepsOf({ tool_type, pipeline_steps = [] }: ToolJson, workspace: Workspace): readonly string[] {
  if (tool_type !== "pipeline") return [];
  return pipeline_steps.map(({ tool }) => {
    const found = typeof tool === "string" ? workspace.getTool(tool) : undefined;
    return found === undefined ? "" : toolDigest(found.tool);
  });
}

/** Whether steps count that name one version of a tool: an edit changes nothing for them. */
export interface UserOptions {
  readonly withPinned?: boolean;
}

/** The addresses of the pipelines that use a tool of the workspace itself, also of those in skills. */
export function findUsers(name: string, workspace: Workspace, { withPinned = false }: UserOptions = {}): string[] {
  const isMeant = (step: string, own: ReadonlySet<string>): boolean => {
    const [bare = "", version] = step.split("@");
    return bare === name && !own.has(bare) && (withPinned || version === undefined);
  };
  const global = workspace.getAvailableTools().filter(({ source }) => source !== "skill");
  const users = global.filter(({ tool }) => toolsIn(tool).some((step) => isMeant(step, new Set())));
  const inSkills = workspace.getSkills().flatMap(({ skill }) => {
    // Inside a skill a bare name is its own tool first.
    const own = new Set(skill.tools.map((tool) => tool.name));
    const found = skill.tools.filter((tool) => toolsIn(tool).some((step) => isMeant(step, own)));
    return found.map((tool) => `${skill.name}/${tool.name}`);
  });
  return [...users.map(({ address }) => address), ...inSkills].toSorted();
}

const mostTools = 1000;

/** The way by which a pipeline would call itself: `a → b → a`; nothing if it does not. */
export function findCycle(name: string, tool: Tool, workspace: Workspace): readonly string[] | undefined {
  const seen = new Set<string>();
  const ways: { readonly tool: Tool; readonly way: readonly string[] }[] = [{ tool, way: [name] }];
  for (let next = ways.pop(); next !== undefined && seen.size < mostTools; next = ways.pop()) {
    for (const address of toolsIn(next.tool)) {
      const found = workspace.getTool(address);
      const way = [...next.way, address];
      if ((found?.address ?? address.replace(/@.*$/u, "")) === name) return way;
      if (found === undefined || seen.has(found.address)) continue;
      seen.add(found.address);
      ways.push({ tool: found.tool, way });
    }
  }
  return undefined;
}

/** The addresses of the tools that a pipeline calls; none if it is no pipeline. */
export function toolsIn({ code }: Tool): readonly string[] {
  if (code.kind !== "pipeline") return [];
  return (code as PipelineCode).spec.steps.map((step) => step.tool);
}
