import { ProtocolError, ProtocolErrorCode, type CallToolResult } from "@modelcontextprotocol/server";

import { quote } from "../../../core/errors.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import type { StructuredForm } from "../tools/structured-output.ts";
import { toCallResult, toErrorResult } from "../tools/to-call-result.ts";
import type { CallTarget } from "./call-target.ts";

const unknownCodes: ReadonlySet<string> = new Set(["tool-not-found", "address-invalid"]);

/**
 * The answer to a call of a target, in the form that was found before it ran.
 *
 * @throws {ProtocolError} if there is no tool of the name: the protocol wants an error then, not an answer.
 */
export function toTargetResult(target: CallTarget, outcome: ToolOutcome, form: StructuredForm): CallToolResult {
  if (outcome.status === "ok")
    return toCallResult(outcome, outcome.capped === undefined ? form : cappedForm(target, form));
  const { code, message } = outcome.error;
  if (code === "approval-missing") return toErrorResult(describeApproval(outcome.error.details.tool));
  const isUnknown = target.kind === "direct" && target.entry === undefined && unknownCodes.has(code);
  if (isUnknown) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  return toCallResult(outcome, form);
}

/** Says whom to ask. What Kitbag's own message says is for whoever writes programs, and nobody at a client does. */
function describeApproval(tool: string): string {
  // `import` is there only where Kitbag serves; on the command line it has a name of its own.
  const command = tool === "import" ? "kitbag add <source>" : `kitbag call ${tool}`;
  return `Cannot call ${quote(tool)}: it needs an approval, and this client cannot ask its person\n→ Call it from a client that can (elicitation), or have a person run it where Kitbag runs: ${command}`;
}

/** The head of an output that was too large fits no schema. What one of the fixed few calls declares none here, so it is no error. */
function cappedForm({ kind }: CallTarget, form: StructuredForm): StructuredForm {
  return kind === "dispatch" ? "none" : form;
}
