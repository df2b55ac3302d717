import type { Tool } from "../../core/tool.ts";
import type { ForgeParts } from "../forge-parts.ts";
import type { ForgeAnswer, ForgeDiagnostic } from "../forge-interface.ts";
import { refuseDraft } from "../birth/answer.ts";
import { ownershipOf } from "../owners.ts";
import { findUsers } from "./pipelines.ts";

/** Tells all that a caller needs of a tool that is live now; why it is not, if it is not. */
export function toLiveAnswer(
  { live, workspace }: Pick<ForgeParts, "live" | "workspace">,
  name: string,
  notes: readonly ForgeDiagnostic[] = [],
): ForgeAnswer {
  const entry = live.find(name);
  const registered = workspace.getTool(name);
  if (entry?.tool === undefined || registered === undefined) return refuseDraft(name, entry?.diagnostics ?? []);
  const { tool } = entry;
  const usedBy = findUsers(name, workspace);
  return {
    status: "live",
    name,
    wireName: registered.wireName,
    version: tool.version ?? "",
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    permissions: tool.permissions,
    howToCall: toHints(registered.wireName, tool, ownershipOf(entry.stored).owner),
    examples: [],
    ...(usedBy.length > 0 && { usedBy }),
    diagnostics: [...entry.diagnostics, ...notes],
  };
}

/** The command line is the local user's, and calls nothing of another owner. */
function toHints(wireName: string, { name, examples }: Tool, owner: string | undefined): readonly string[] {
  const text = JSON.stringify(examples[0]?.input ?? {});
  const shown = text.length > 400 ? "{…}" : text;
  const command = `On the command line: kitbag call ${name} --input '${shown.replaceAll("'", String.raw`'\''`)}'`;
  return [
    `As a tool of its own: ${wireName} with ${shown}`,
    `Through call_tool: {"name": ${JSON.stringify(wireName)}, "input": ${shown}}`,
    ...(owner === undefined ? [command] : []),
  ];
}
