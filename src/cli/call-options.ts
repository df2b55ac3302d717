import { longestTimerMs } from "../core/async.ts";
import type { CallOptions, ApprovalRequest, Approve } from "../workspace/call/call-options.ts";
import type { WorkspaceOptions } from "../workspace/workspace.ts";
import type { Invocation } from "./cli-command.ts";
import { createTerminalAccess } from "./mcp/ask-terminal.ts";
import { getText, readCount } from "./options.ts";
import type { Records } from "./store/open-records.ts";
import { isYes } from "./terminal.ts";
import { toPrintableLine } from "./printable.ts";

/**
 * How a person calls a tool by hand: with their limit, asked for what needs an approval, and shown all of the output.
 *
 * @throws {KitbagError} `usage-invalid` for an invalid limit.
 */
export function toCallOptions(
  invocation: Invocation,
  { approve }: Pick<WorkspaceOptions, "approve">,
  { user }: Pick<Records, "user">,
): CallOptions {
  const flag = getText(invocation.options, "limitMs");
  const source = flag === undefined ? "KITBAG_LIMIT_MS" : "--limit-ms";
  const expected = `a whole number of milliseconds, from 1 to ${longestTimerMs}`;
  const limitMs = readCount(source, flag ?? invocation.env["KITBAG_LIMIT_MS"], longestTimerMs, expected);
  return {
    ...(limitMs !== undefined && { limitMs }),
    ...(approve === undefined && { approve: askThePerson(invocation) }),
    ...(user !== undefined && { user }),
    ...(invocation.terminal.canAsk && { injected: { mcp: createTerminalAccess(invocation.terminal) } }),
    // A person reads all of it, or pipes it on; only models need the head.
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
  };
}

/** Who calls a tool by hand is there to approve it; a script says so with `--yes`. */
export function askThePerson({ terminal, options }: Pick<Invocation, "terminal" | "options">): Approve {
  return async (request) => {
    const { tool, reason } = request;
    if (!tool.needsApproval || options["yes"] === true) return { decision: "approve" };
    if (!terminal.canAsk) {
      const absent = "no person can be asked; use a terminal, or approve it with --yes";
      return { decision: "deny", reason: reason === undefined ? absent : `${reason}; ${absent}` };
    }
    const answer = await terminal.ask(renderQuestion(request), { dropTyped: true });
    return isYes(answer) ? { decision: "approve" } : { decision: "deny", reason: "by the user" };
  };
}

/** A guard may ask about the output of a call. Then the tool has run already, and the input of the request is that output. */
function renderQuestion({ tool, address, input, reason }: ApprovalRequest): string {
  const why = reason === undefined ? "" : ` (${toPrintableLine(reason)})`;
  const value = toPrintableLine(JSON.stringify(input));
  return tool.code.kind === "guard"
    ? `The output of ${address} is ${value}\nHand over the output of ${address}?${why} [y/N] `
    : `Call ${address} with ${value}?${why} [y/N] `;
}
