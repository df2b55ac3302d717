import type { Breakpoint, DebugStop } from "../../../agent/debug/create-debugger.ts";
import { type Invocation, usageError } from "../../cli-command.ts";
import { getTexts } from "../../options.ts";

/** A breakpoint, and how it was written. */
export interface WrittenBreakpoint extends Breakpoint {
  readonly place: string;
}

/** What `--break` and `b` take. */
export const breakpointForms = "step:N, tool:ADDRESS, failed or has:TEXT";

/**
 * Reads `--debug` and `--break`: where to stop; nothing without `--debug`.
 *
 * @throws {KitbagError} `usage-invalid` for an invalid place, or without `--debug`.
 */
export function parseBreakpoints(
  invocation: Pick<Invocation, "options" | "json">,
): readonly WrittenBreakpoint[] | undefined {
  const { options, json } = invocation;
  if (options["debug"] !== true) {
    if (getTexts(options, "break").length > 0) throw usageError("Cannot use --break without --debug");
    return undefined;
  }
  if (json) throw usageError("Cannot use --debug with --json: a person must read the questions");
  return readBreakpoints(invocation);
}

/** Reads `--break` of a command that does nothing but debug. @throws {KitbagError} `usage-invalid` for an invalid place. */
export function readBreakpoints({ options }: Pick<Invocation, "options">): readonly WrittenBreakpoint[] {
  return getTexts(options, "break").map((place) => {
    const breakpoint = toBreakpoint(place);
    if (breakpoint !== undefined) return breakpoint;
    throw usageError(`Cannot stop at ${place}: expected ${breakpointForms}, as in step:3 or tool:csv-report/group_by`);
  });
}

/** Reads `step:3`, `tool:skill/tool`, `failed` or `has:text`; nothing for any other text. */
export function toBreakpoint(text: string): WrittenBreakpoint | undefined {
  const place = text.trim();
  if (place === "failed") return { place, when: ({ outcome }) => outcome?.status === "failed" };
  const [, kind, value = ""] = /^(step|tool|has):(.+)$/su.exec(place) ?? [];
  if (kind === "has") return { place, when: (stop) => hasText(stop, value) };
  if (/\s/u.test(value)) return undefined;
  if (kind === "tool") return { place, tool: value };
  return kind === "step" && /^[1-9]\d{0,6}$/u.test(value) ? { place, step: Number(value) } : undefined;
}

/** Whether a text is in what happens at a place: in the answer, in the arguments or in the result. */
function hasText({ where, answer, call, outcome }: DebugStop, text: string): boolean {
  const here = { model: undefined, answer: answer?.content, call: call?.input, outcome }[where];
  return here !== undefined && findText(here, text);
}

function findText(value: unknown, text: string): boolean {
  if (typeof value === "string") return value.includes(text);
  if (typeof value !== "object" || value === null) return String(value) === text;
  return Object.values(value).some((part) => findText(part, text));
}
