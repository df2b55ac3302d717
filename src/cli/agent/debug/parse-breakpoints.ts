import type { Breakpoint } from "../../../agent/debug/create-debugger.ts";
import type { Invocation } from "../../cli-command.ts";
import { getTexts } from "../../options.ts";
import { usageError } from "../../usage-error.ts";

/**
 * Reads `--debug` and `--break`: where to stop; nothing if nobody wants to.
 *
 * @throws {KitbagError} `usage-invalid` for a place that is none, or without `--debug`.
 */
export function parseBreakpoints({
  options,
  json,
}: Pick<Invocation, "options" | "json">): readonly Breakpoint[] | undefined {
  const places = getTexts(options, "break");
  if (options["debug"] !== true) {
    if (places.length > 0) throw usageError("Cannot use --break without --debug");
    return undefined;
  }
  if (json) throw usageError("Cannot use --debug with --json: somebody must read what is asked");
  return places.map(parseBreakpoint);
}

/** Reads `step:3` or `tool:skill/tool`. @throws {KitbagError} `usage-invalid` */
function parseBreakpoint(text: string): Breakpoint {
  const [, kind, value = ""] = /^(step|tool):(\S+)$/u.exec(text.trim()) ?? [];
  if (kind === "tool") return { tool: value };
  const step = /^[1-9]\d{0,6}$/u.test(value) ? Number(value) : 0;
  if (kind === "step" && step > 0) return { step };
  throw usageError(
    `Cannot stop at ${text}: expected step:N, as in step:3, or tool:ADDRESS, as in tool:csv-report/group_by`,
  );
}
