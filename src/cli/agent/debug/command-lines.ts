import { openLines } from "../../debug/lines.ts";
import type { Terminal } from "../../terminal.ts";

/** Where the commands of somebody who debugs come from. */
export interface CommandLines {
  /** The next one; nothing when there are no more, or the person interrupts. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** Opens the keyboard, or what a program sends. At a keyboard nothing is held between two questions: others ask there too. */
export function openCommandLines(terminal: Pick<Terminal, "canAsk" | "ask">): CommandLines {
  if (terminal.canAsk) return { next: (prompt) => terminal.ask(prompt), close: () => {} };
  const lines = openLines(process.stdin, process.stderr, () => {});
  return { next: (prompt) => lines.next(prompt), close: () => lines.close() };
}
