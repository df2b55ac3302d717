import type { DebugAction, DebugStop } from "../../../agent/debug/create-debugger.ts";
import type { Terminal } from "../../terminal.ts";
import type { CommandLines } from "./command-lines.ts";
import type { WrittenBreakpoint } from "./parse-breakpoints.ts";
import { renderStop } from "./render-stop.ts";
import { runStopCommand } from "./run-stop-command.ts";

const prompt = "(debug) ";

/** Where stops are shown, and where a run is to stop. */
export interface StopScreen {
  readonly terminal: Pick<Terminal, "note" | "style" | "columns">;
  readonly breakpoints: WrittenBreakpoint[];
}

/** Shows where a run has stopped, and asks what to do until it is something that makes it go on. */
export async function askAtStop(
  stop: DebugStop,
  lines: CommandLines,
  { terminal, breakpoints }: StopScreen,
): Promise<DebugAction> {
  const { columns } = terminal;
  terminal.note(
    `${terminal.style("cyan", `▸ ${renderStop(stop, columns === undefined ? undefined : columns - 2)}`)}\n`,
  );
  for (;;) {
    const line = await lines.next(prompt);
    const words = line === undefined ? "q" : line.trim() === "" ? "n" : line;
    const answer = runStopCommand(stop, words, { columns, breakpoints });
    if ("action" in answer) return answer.action;
    terminal.note(`${answer.text}\n`);
  }
}
