import { toFailure, type Failure } from "../../../core/errors.ts";
import type { CallOptions } from "../../../workspace/call/call-options.ts";
import type { Session, Workspace } from "../../../workspace/workspace.ts";

/**
 * The workspace itself as a session: what is open in it is what all clients of 2026 see who name no session. What they have opened is open
 * in another one, and whoever forgets to name it is told so.
 */
export function toSharedSession(workspace: Workspace): Session {
  return {
    ...workspace,
    close: () => Promise.resolve(),
    call: (async (tool: string, input?: unknown, options?: CallOptions) => {
      const outcome = await workspace.call(tool, input, options);
      return outcome.status === "ok" ? outcome : { ...outcome, error: nameSession(outcome.error) };
    }) as Session["call"],
  };
}

function nameSession(error: Failure): Failure {
  if (error.code === "tool-unavailable") return toFailure("session-missing", error.details);
  if (!isFromClosedSkill(error)) return error;
  const cure = '→ Give the "session" that activate_skill answers with: skills are open nowhere else';
  return { ...error, message: `${error.message}\n${cure}` };
}

/** Whether something inside the call wanted a tool of a skill that is closed. */
function isFromClosedSkill({ code, details }: Failure): boolean {
  if (code === "code-failed") return details.calls.some((call) => call.code === "tool-unavailable");
  return code === "step-failed" && details.code === "tool-unavailable";
}
