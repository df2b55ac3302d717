import { createSemaphore } from "../../core/async.ts";
import { KitbagError, type UntilThen } from "../../core/errors.ts";
import { type JsonValue, showValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { RuntimeContext } from "../../core/runtime.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";

/** One call that a program made. What it gave back is not in it: that stays with the program. */
export interface CodeCall {
  readonly tool: string;
  /** `unfinished` if the program ended before it. */
  readonly status: "ok" | "failed" | "unfinished";
  /** Why it failed. */
  readonly code?: string;
  readonly durationMs: number;
}

/** What happens while one program runs: its calls, and what it prints. */
export interface ProgramSession {
  /** Calls a tool the same way every call takes, at most so many at once. Rejects if the program must stop while the call waits. */
  call(address: string, input: unknown): Promise<ToolOutcome>;
  print(text: string): void;
  /** In the order in which they were asked for. */
  calls(): CodeCall[];
  /** All that was printed, a line for each time. */
  printed(): string;
}

interface OpenCall {
  readonly tool: string;
  readonly startedAt: number;
  outcome?: ToolOutcome;
  durationMs?: number;
}

/** Makes the session of one program, within the call that runs it. */
export function createProgramSession(context: RuntimeContext, { maxParallel }: CodeLimits): ProgramSession {
  const calls: OpenCall[] = [];
  const lines: string[] = [];
  const permits = createSemaphore(maxParallel);

  return {
    async call(address, input) {
      const call: OpenCall = { tool: address, startedAt: performance.now() };
      calls.push(call);
      const outcome = await permits.run(() => context.call(address, input), context.signal);
      call.outcome = outcome;
      call.durationMs = performance.now() - call.startedAt;
      return outcome;
    },
    print(text) {
      lines.push(text);
      context.log(text);
    },
    calls: () => calls.map(toCodeCall),
    printed: () => lines.join("\n"),
  };
}

function toCodeCall({ tool, startedAt, outcome, durationMs = performance.now() - startedAt }: OpenCall): CodeCall {
  const rounded = Math.round(durationMs * 10) / 10;
  if (outcome === undefined) return { tool, status: "unfinished", durationMs: rounded };
  const { status } = outcome;
  return { tool, status, ...(status === "failed" && { code: outcome.error.code }), durationMs: rounded };
}

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

/** The end of what a program has printed and called: a model that writes it again must know what was done. */
export function describeProgram(session: ProgramSession): Required<Pick<UntilThen, "console" | "calls">> {
  return { console: session.printed().slice(-longestConsole), calls: session.calls().slice(-mostCalls) };
}

/** How much one program of a model may use. */
export interface CodeLimits {
  /** @default 64 MiB for JavaScript, and at least 256 MiB for Python, whose interpreter alone needs much */
  readonly memoryBytes: number;
  /** How long it may compute; waiting for tools does not count. @default 5000 */
  readonly cpuMs: number;
  /** How much of what it prints is kept, in characters. @default 32768 */
  readonly consoleBytes: number;
  /** How many tools it may call. @default 1000 */
  readonly maxCalls: number;
  /** How many of its calls may run at once; the others wait. @default 16 */
  readonly maxParallel: number;
}

const defaults: CodeLimits = {
  memoryBytes: 64 * 1024 * 1024,
  cpuMs: 5000,
  consoleBytes: 32 * 1024,
  maxCalls: 1000,
  maxParallel: 16,
};

/**
 * Fills in the limits that are not given.
 *
 * @throws {KitbagError} `option-invalid` for an unknown limit or one that is not a number above 0.
 */
export function toCodeLimits(given: Partial<CodeLimits>): CodeLimits {
  for (const [name, value] of Object.entries(given)) {
    const option = `limits.${name}`;
    if (!Object.hasOwn(defaults, name)) {
      const expected = `one of ${Object.keys(defaults).join(", ")}`;
      throw new KitbagError("option-invalid", { option, found: "an unknown limit", expected });
    }
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      throw new KitbagError("option-invalid", { option, found: showValue(value), expected: "a number above 0" });
    }
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
