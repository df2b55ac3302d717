import { inputRequired } from "@modelcontextprotocol/server";

import { toVisibleText } from "../../../core/hidden-characters.ts";
import type { ApprovalDecision, ApprovalRequest, Approve } from "../../../workspace/call/call-options.ts";
import { cutText } from "../../../core/cut-text.ts";
import type { Ask } from "./question-line.ts";

const longestInput = 4000;
const longestDescription = 300;

const approvalForm = {
  type: "object" as const,
  properties: {
    approve: { type: "boolean" as const, title: "Allow this call", default: false },
    reason: { type: "string" as const, title: "If not: why", maxLength: 500 },
  },
  required: ["approve"],
};

/** Makes what asks the person at the client whether a call may be made. */
export function askApproval(ask: Ask): Approve {
  return async (request) => {
    const question = inputRequired.elicit({ message: renderQuestion(request), requestedSchema: approvalForm });
    const { approval } = await ask({ approval: question }, { signal: request.signal });
    return toDecision(approval ?? {});
  };
}

function toDecision({ action, content }: Readonly<Record<string, unknown>>): ApprovalDecision {
  const { approve, reason } = (content ?? {}) as Readonly<Record<string, unknown>>;
  if (action === "accept" && approve === true) return { decision: "approve" };
  const why = typeof reason === "string" && reason !== "" ? reason : "the person at the client said no";
  return { decision: "deny", reason: why };
}

/** What a person must know to decide: exactly what will run, and that it is shown as the tool and the model wrote it. */
function renderQuestion({ address, tool, input, callers }: ApprovalRequest): string {
  const text = JSON.stringify(input, undefined, 2);
  const shown =
    text.length > longestInput ? `${cutText(text, longestInput)}\n… ${text.length} characters in all` : text;
  const what = cutText(toVisibleText(tool.description).split("\n", 1)[0] as string, longestDescription);
  const behalf = callers.length === 0 ? "" : `\nOn behalf of: ${callers.join(" → ")}`;
  return toVisibleText(`Allow the tool ${address} to run?\n${what}${behalf}\n\nInput:\n${shown}`);
}
