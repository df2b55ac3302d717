import type { JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";

/** What somebody is asked to approve. */
export interface ApprovalRequest {
  readonly call: string;
  readonly parent?: string;
  /** The addresses of the tools on whose behalf it is, the outermost first; none if the caller asks for the tool itself. */
  readonly callers: readonly string[];
  readonly user?: string;
  /** The tool's address. */
  readonly address: string;
  readonly tool: Tool;
  /** Exactly what will run: a copy, so changing it changes nothing. */
  readonly input: JsonValue;
  /** Why a guard wants it to be asked about. */
  readonly reason?: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The answer: yes, no with a reason for the model, or yes with another input, which is checked again. */
export type ApprovalDecision =
  | { readonly decision: "approve"; readonly input?: unknown }
  | { readonly decision: "deny"; readonly reason: string };

/** Decides on a call. One that throws or answers anything else denies. The deadline does not run while it waits. */
export type Approve = (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
