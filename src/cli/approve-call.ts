import type { ApprovalRequest, Approve } from "../workspace/call/call-options.ts";
import type { Invocation } from "./cli-command.ts";
import { isYes } from "./config/require-trust.ts";
import { toPrintableLine } from "./printable.ts";

/** Who calls a tool by hand is there to approve it; a script says so with `--yes`. */
export function askThePerson({ terminal, options }: Pick<Invocation, "terminal" | "options">): Approve {
  return async (request) => {
    const { tool, reason } = request;
    if (!tool.needsApproval || options["yes"] === true) return { decision: "approve" };
    if (!terminal.canAsk) {
      const absent = "nobody is there to be asked; use a terminal, or approve it with --yes";
      return { decision: "deny", reason: reason === undefined ? absent : `${reason}; ${absent}` };
    }
    const answer = await terminal.ask(renderQuestion(request), { dropTyped: true });
    return isYes(answer) ? { decision: "approve" } : { decision: "deny", reason: "by the user" };
  };
}

/** A guard may ask about what came of a call; then the tool has run, and the input of the request is its output. */
function renderQuestion({ tool, address, input, reason }: ApprovalRequest): string {
  const why = reason === undefined ? "" : ` (${toPrintableLine(reason)})`;
  const value = toPrintableLine(JSON.stringify(input));
  return tool.code.kind === "guard"
    ? `The output of ${address} is ${value}\nHand over the output of ${address}?${why} [y/N] `
    : `Call ${address} with ${value}?${why} [y/N] `;
}
