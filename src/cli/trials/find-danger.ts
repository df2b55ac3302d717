import type { McpCode } from "../../core/mcp-code.ts";
import type { Tool } from "../../core/tool.ts";
import type { ComposedCode } from "../../runtimes/compose/compose-tool.ts";
import type { PipelineCode } from "../../runtimes/pipeline/pipeline-code.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** Why inputs by chance could do harm with a tool; nothing if they cannot. */
export function findDanger(entry: RegisteredTool, workspace: Pick<Workspace, "getTool">): string | undefined {
  const { tool } = entry;
  const inside = tool.code.kind === "pipeline" ? findInSteps(entry, workspace, new Set()) : undefined;
  return inside ?? findInTool(tool);
}

function findInTool(tool: Tool): string | undefined {
  const { permissions, needsApproval, inject } = tool;
  const destroys = whyDestroys(tool);
  if (destroys !== undefined) return destroys;
  if (needsApproval) return "it needs an approval";
  if (inject.length > 0) return `it needs ${inject.join(", ")}`;
  const beyond = (["write", "network", "env"] as const).find((kind) => (permissions[kind]?.length ?? 0) > 0);
  return beyond === undefined ? undefined : `it may use ${beyond}: ${permissions[beyond]?.join(", ")}`;
}

/** Of some tools the worst is assumed because nobody said otherwise: that is another reason than what an author says. */
function whyDestroys({ annotations, code }: Tool): string | undefined {
  if (code.kind === "pipeline") {
    const said = (code as PipelineCode).spec.annotations?.destructive === true;
    return said ? "it says that it destroys" : undefined;
  }
  if (annotations.destructive !== true) return undefined;
  if (code.kind === "mcp" && (code as McpCode).definition.annotations?.["destructiveHint"] !== true)
    return "its server does not say that it destroys nothing";
  const { parts = [] } = code as Partial<ComposedCode>;
  const part = parts.find((one) => one.annotations.destructive ?? one.annotations.readOnly !== true);
  if (part === undefined) return "it says that it destroys";
  const says =
    part.annotations.destructive === true ? "says that it destroys" : "does not say that it destroys nothing";
  return `its part ${part.name} ${says}`;
}

/** A pipeline is as dangerous as its steps. What they are is known only where all tools are. */
function findInSteps(
  { tool, owner, source }: RegisteredTool,
  workspace: Pick<Workspace, "getTool">,
  seen: Set<Tool>,
): string | undefined {
  if (seen.has(tool)) return undefined;
  seen.add(tool);
  for (const { tool: address } of (tool.code as PipelineCode).plan.steps) {
    const own = source === "global" || address.includes("/") ? undefined : workspace.getTool(`${owner}/${address}`);
    const step = own ?? workspace.getTool(address);
    if (step === undefined) return `its step ${address} is not there`;
    const inside = step.tool.code.kind === "pipeline" ? findInSteps(step, workspace, seen) : undefined;
    const danger = inside ?? findInTool(step.tool);
    if (danger !== undefined) return `its step ${address}: ${danger}`;
  }
  return undefined;
}
