import type { Approve } from "../workspace/call/approval.ts";
import type { Invocation } from "./cli-command.ts";
import { isYes } from "./config/require-trust.ts";
import { toPrintableLine } from "./printable.ts";

/** Who calls a tool by hand is there to approve it; a script says so with `--yes`. */
export function askThePerson({ terminal, options }: Pick<Invocation, "terminal" | "options">): Approve {
  return async ({ tool, address, input }) => {
    if (!tool.needsApproval || options["yes"] === true) return { decision: "approve" };
    if (!terminal.canAsk) {
      return { decision: "deny", reason: "nobody is there to be asked; use a terminal, or approve it with --yes" };
    }
    const question = `Call ${address} with ${toPrintableLine(JSON.stringify(input))}? [y/N] `;
    return isYes(await terminal.ask(question)) ? { decision: "approve" } : { decision: "deny", reason: "by the user" };
  };
}
