import { ProtocolError, ProtocolErrorCode, type CallToolResult } from "@modelcontextprotocol/server";

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
  if (code === "approval-missing") {
    const cure = "→ Call it from a client that can ask its person (elicitation), or approve it where Kitbag runs";
    return toErrorResult(`${message}\n${cure}`);
  }
  const isUnknown = target.kind === "direct" && target.entry === undefined && unknownCodes.has(code);
  if (isUnknown) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  return toCallResult(outcome, form);
}

/** The head of an output that was too large fits no schema. What one of the fixed few calls declares none here, so it is no error. */
function cappedForm({ kind }: CallTarget, form: StructuredForm): StructuredForm {
  return kind === "dispatch" ? "none" : form;
}
