import type { DebugAction, DebugStop } from "../../../agent/debug/create-debugger.ts";
import type { Terminal } from "../../terminal.ts";
import type { CommandLines } from "./command-lines.ts";
import { renderStop } from "./render-stop.ts";
import { runStopCommand } from "./run-stop-command.ts";

const prompt = "(debug) ";

/** Shows where a run has stopped, and asks what to do until it is something that makes it go on. */
export async function askAtStop(
  stop: DebugStop,
  lines: CommandLines,
  terminal: Pick<Terminal, "note" | "style" | "columns">,
): Promise<DebugAction> {
  terminal.note(
    `${terminal.style("cyan", `▸ ${renderStop(stop, terminal.columns === undefined ? undefined : terminal.columns - 2)}`)}\n`,
  );
  for (;;) {
    const line = await lines.next(prompt);
    const answer = runStopCommand(stop, line === undefined ? "q" : line.trim() === "" ? "n" : line, terminal.columns);
    if ("action" in answer) return answer.action;
    terminal.note(`${answer.text}\n`);
  }
}
