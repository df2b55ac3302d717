import { KitbagError, type UntilThen } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { CodeLimits } from "./code-limits.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";
import type { CodeCall, ProgramSession } from "./program-session.ts";

/** What a program gives back. */
export interface CodeOutput {
  readonly result: JsonValue;
  /** What it printed. */
  readonly console: string;
  readonly calls: readonly CodeCall[];
}

/** A program that ended. */
export interface EndedProgram {
  readonly tool: string;
  readonly end: ProgramEnd;
  readonly session: ProgramSession;
  readonly limits: CodeLimits;
}

/** How much of what was printed and called a failure repeats: the end of it, where the mistake is. */
const longestConsole = 16_000;
const mostCalls = 100;

/**
 * Makes the output of a program out of how it ended.
 *
 * @throws {KitbagError} `code-failed` if it threw or cannot be read; `output-invalid` if its result is no JSON; `call-timeout` and
 * `memory-exceeded` if it used more than it may.
 */
export function toCodeOutput({ tool, end, session, limits }: EndedProgram): CodeOutput {
  switch (end.status) {
    case "ok": {
      const result = JSON.parse(end.json) as JsonValue;
      return { result, console: session.printed(), calls: session.calls() };
    }
    case "failed":
      throw new KitbagError("code-failed", { tool, reason: end.reason, ...describeProgram(session) });
    case "no-json": {
      const problems = [{ path: "result", expected: "JSON", found: end.found }];
      throw new KitbagError("output-invalid", { tool, problems });
    }
    case "out-of-time":
      throw new KitbagError("call-timeout", {
        ...{ tool, limitMs: limits.cpuMs, counted: "computing" },
        untilThen: describeProgram(session),
      });
    case "out-of-memory":
      throw new KitbagError("memory-exceeded", {
        ...{ tool, limitBytes: limits.memoryBytes },
        untilThen: describeProgram(session),
      });
  }
}

/** The end of what a program has printed and called: whoever asks for it again must know what was done. */
export function describeProgram(session: ProgramSession): Required<Pick<UntilThen, "console" | "calls">> {
  return { console: session.printed().slice(-longestConsole), calls: session.calls().slice(-mostCalls) };
}
