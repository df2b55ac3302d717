import { createDebugger, isAt } from "../../../agent/debug/create-debugger.ts";
import type { AgentHooks } from "../../../agent/hooks.ts";
import type { Terminal } from "../../terminal.ts";
import type { RunView } from "../view/run-view.ts";
import { askAtStop } from "./ask-at-stop.ts";
import { openCommandLines } from "./command-lines.ts";
import type { WrittenBreakpoint } from "./parse-breakpoints.ts";

/** A person who goes through runs while they happen. */
export interface LiveDebugging {
  /** The hooks for one run. */
  hooks(stop: () => void, view: RunView | undefined): AgentHooks;
  close(): void;
}

/** Debugs runs at the terminal, or by commands from standard input. */
export function openLiveDebugging(
  { terminal }: { readonly terminal: Terminal },
  given: readonly WrittenBreakpoint[],
): LiveDebugging {
  const breakpoints = [...given];
  const lines = openCommandLines(terminal);
  return {
    hooks: (stop, view) =>
      createDebugger({
        // Those that are set on the way count, too.
        breakpoints: [{ when: (place) => breakpoints.some((one) => isAt(one, place)) }],
        stopAtStart: breakpoints.length === 0,
        stop,
        onStop(place) {
          const ask = async (): ReturnType<typeof askAtStop> => askAtStop(place, lines, { terminal, breakpoints });
          return view === undefined ? ask() : view.leave(ask);
        },
      }),
    close: () => lines.close(),
  };
}
