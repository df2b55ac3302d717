import type { JsonValue } from "../../../core/json.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import { askApproval } from "./ask-approval.ts";
import type { CallTarget } from "./call-target.ts";
import type { Ask } from "./question-line.ts";

/** What is known of who approves calls in a workspace: if it has nobody, the person at the client is asked. */
export interface ApprovalKnowledge {
  isNobodyThere: boolean;
}

/**
 * Makes a call; one that needs an approval, which nobody where Kitbag runs can give, is put to the person at the client.
 *
 * Whether the workspace has somebody is seen by how it answers: then it is their decision, and the client is never asked in their
 * place. Nothing has run when a call fails for want of an approval, so it can be made again.
 */
export async function callApproved(
  target: CallTarget,
  input: unknown,
  options: CallOptions,
  { ask, knowledge }: { readonly ask: Ask; readonly knowledge: ApprovalKnowledge },
): Promise<ToolOutcome> {
  const asking = { ...options, approve: askApproval(ask) };
  const mayNeed = target.entry?.tool.needsApproval === true || target.name === batchName;
  if (mayNeed && knowledge.isNobodyThere) return target.run(input, asking);
  const outcome = await target.run(input, options);
  if (lacksApproval(outcome)) {
    knowledge.isNobodyThere = true;
    return target.run(input, asking);
  }
  // The calls of a batch have run, so it is not made again: the model may, and then the client is asked.
  if (target.name === batchName && outcome.status === "ok" && hasUnapproved(outcome.output)) {
    knowledge.isNobodyThere = true;
  }
  return outcome;
}

const batchName = "call_tools";

/** Tells whether a call failed because nobody could approve it. */
export function lacksApproval(outcome: ToolOutcome): boolean {
  return outcome.status === "failed" && outcome.error.code === "approval-missing";
}

function hasUnapproved(output: JsonValue): boolean {
  const { results } = output as { readonly results: readonly { readonly code?: string }[] };
  return results.some(({ code }) => code === "approval-missing");
}
