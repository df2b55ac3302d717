import { createInterface } from "node:readline";

import type { InputStream, OutputStream, Terminal } from "../terminal.ts";

/** Lines that a person types, or a program sends. */
export interface Lines {
  /** The next one; nothing when there are no more. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** Reads lines one by one, and keeps those that come early. `onInterrupt` hears Ctrl-C at a keyboard. */
export function openLines(input: InputStream, output: OutputStream, onInterrupt: () => void): Lines {
  const isKeyboard = input.isTTY === true;
  const reader = createInterface({ input, ...(isKeyboard && { output }), terminal: isKeyboard });
  const early: string[] = [];
  let waiting: ((line: string | undefined) => void) | undefined;
  let hasEnded = false;
  reader.on("line", (line) => {
    if (waiting === undefined) early.push(line);
    else waiting(line);
    waiting = undefined;
  });
  reader.on("SIGINT", onInterrupt);
  reader.on("close", () => {
    hasEnded = true;
    waiting?.(undefined);
  });
  return {
    async next(prompt) {
      if (isKeyboard) {
        reader.setPrompt(prompt);
        if (early.length === 0) reader.prompt();
      }
      const line =
        early.shift() ??
        (hasEnded ? undefined : await new Promise<string | undefined>((resolve) => (waiting = resolve)));
      // Who reads the output of a pipe sees what was asked.
      if (!isKeyboard) output.write(`${prompt}${line ?? ""}\n`);
      return line;
    },
    close: () => reader.close(),
  };
}

/** Where the commands of a debugging session come from. */
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
