import type { Terminal } from "../../terminal.ts";

/** Writes what a model says, piece by piece, and knows whether a line is open. */
export interface AnswerWriter {
  write(piece: string): void;
  /** Ends the line that is open, if one is. */
  endLine(): void;
}

/** How an answer is written. */
interface AnswerWriterOptions {
  /** Takes what is written. */
  readonly print: (text: string) => void;
  /** Makes text from elsewhere harmless. */
  readonly toShown: Terminal["toShown"];
}

/** Makes a writer. A line end that comes in two pieces is one. */
export function createAnswerWriter({ print, toShown }: AnswerWriterOptions): AnswerWriter {
  let isLineOpen = false;
  let held = "";

  return {
    write(piece) {
      const text = held + piece;
      held = text.endsWith("\r") ? "\r" : "";
      const whole = held === "" ? text : text.slice(0, -1);
      if (whole === "") return;
      print(toShown(whole));
      isLineOpen = !whole.endsWith("\n");
    },
    endLine() {
      held = "";
      if (isLineOpen) print("\n");
      isLineOpen = false;
    },
  };
}
