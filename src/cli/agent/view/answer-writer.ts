import type { Terminal } from "../../terminal.ts";
import { createWordWrapper } from "./wrap-words.ts";

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
  /** How wide the screen is: lines wrap at words. @default they are written as they are */
  readonly columns?: number | undefined;
}

/** Makes a writer. A line end that comes in two pieces is one. */
export function createAnswerWriter(options: AnswerWriterOptions): AnswerWriter {
  const { print, toShown, columns } = options;
  if (columns !== undefined) return createWrappingWriter({ ...options, columns });
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

/** A word is shown when it is whole: only then is it known whether it fits on the line. */
function createWrappingWriter({
  print,
  toShown,
  columns,
}: AnswerWriterOptions & { readonly columns: number }): AnswerWriter {
  const words = createWordWrapper({ print, columns });
  let held = "";

  const showWords = (text: string): void => {
    for (const [, blanks = "", word = ""] of text.matchAll(/( *)([^ ]+)/gu)) words.word(blanks, toShown(word));
  };
  return {
    write(piece) {
      const lines = (held + piece).split(/\r?\n/u);
      const last = lines.pop() ?? "";
      for (const line of lines) {
        showWords(line);
        words.endLine();
      }
      const end = last.lastIndexOf(" ");
      // Blanks wait for the word behind them.
      const shown = end === -1 ? "" : last.slice(0, end).trimEnd();
      showWords(shown);
      held = last.slice(shown.length);
    },
    endLine() {
      showWords(held.trimEnd());
      held = "";
      if (words.isLineOpen) words.endLine();
    },
  };
}
