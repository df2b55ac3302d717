import type { CallOptions } from "../workspace/call/call-options.ts";
import type { WorkspaceOptions } from "../workspace/workspace.ts";
import { askThePerson } from "./approve-call.ts";
import type { Invocation } from "./cli-command.ts";
import { getText } from "./options.ts";
import type { Records } from "./store/open-records.ts";
import { usageError } from "./usage-error.ts";

/**
 * How a person calls a tool by hand: with their limit, asked for what needs an approval, and shown all of the output.
 *
 * @throws {KitbagError} `usage-invalid` for a limit that is none.
 */
export function toCallOptions(
  invocation: Invocation,
  { approve }: Pick<WorkspaceOptions, "approve">,
  { user }: Pick<Records, "user">,
): CallOptions {
  return {
    ...readLimit(getText(invocation.options, "limitMs"), invocation.env["KITBAG_LIMIT_MS"]),
    ...(approve === undefined && { approve: askThePerson(invocation) }),
    ...(user !== undefined && { user }),
    // A person reads all of it, or pipes it on; only models need the head.
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
  };
}

const longestLimitMs = 2 ** 31 - 1;

/** What the person says goes before the environment. */
function readLimit(flag: string | undefined, variable: string | undefined): { limitMs?: number } {
  const text = flag ?? variable;
  if (text === undefined) return {};
  const limitMs = /^\d{1,10}$/u.test(text) ? Number(text) : 0;
  if (limitMs >= 1 && limitMs <= longestLimitMs) return { limitMs };
  throw usageError(
    `Cannot use ${flag === undefined ? "KITBAG_LIMIT_MS" : "--limit-ms"} ${text}: expected a whole number of milliseconds, from 1 to ${longestLimitMs}`,
  );
}
