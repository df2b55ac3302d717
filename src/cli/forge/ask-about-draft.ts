import { toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { WaitingTool } from "../../forge/forge-interface.ts";
import { describeAsking } from "../../forge/permissions-beyond.ts";
import { Clock } from "../../workspace/call/clock.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { Invocation } from "../cli-command.ts";
import { isYes } from "../config/require-trust.ts";
import { toPrintableLine } from "../printable.ts";
import { renderOpened } from "../render-tool.ts";

/** Asks a person in the middle of a call. */
export interface Asking {
  /** Whoever makes a tool by hand may agree to what it asks for at once; what they do not agree to waits. */
  approve(waiting: WaitingTool): Promise<boolean | undefined>;
  /** Makes the call: its time does not pass while somebody is asked, and who ends the input instead of an answer cancels it. */
  call(limits: AskedCall, make: (options: CallOptions) => Promise<ToolOutcome>): Promise<ToolOutcome>;
}

/** The call in which somebody may be asked. */
export interface AskedCall {
  readonly tool: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

const longestLimitMs = 2 ** 31 - 1;

/** Makes what asks at the terminal; without one nobody is asked. */
export function createAsking({ terminal }: Pick<Invocation, "terminal">): Asking {
  const cancel = new AbortController();
  let clock: Clock | undefined;
  return {
    async approve(waiting) {
      if (!terminal.canAsk) return undefined;
      const question = toPrintableLine(`${waiting.name} ${describeAsking(waiting)}. Agree? [y/N]`);
      for (const line of renderOpened(waiting.asks, terminal)) terminal.note(`${line}\n`);
      clock?.hold();
      const answer = await terminal.ask(`${question} `, { dropTyped: true }).finally(() => clock?.release());
      if (answer !== undefined) return isYes(answer) ? true : undefined;
      cancel.abort();
      return false;
    },
    async call({ tool, limitMs, signal }, make) {
      if (!terminal.canAsk) return make({ limitMs, signal });
      let isOver = false;
      clock = new Clock(limitMs, () => {
        isOver = true;
        cancel.abort();
      });
      clock.watch();
      try {
        const outcome = await make({ limitMs: longestLimitMs, signal: AbortSignal.any([signal, cancel.signal]) });
        if (!isOver || outcome.status === "ok") return outcome;
        return { status: "failed", error: toFailure("call-timeout", { tool, limitMs }) };
      } finally {
        clock.end();
      }
    },
  };
}
