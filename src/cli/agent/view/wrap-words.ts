import { textWidth } from "../../render.ts";

/** Where text is written that wraps at words. */
export interface WrapSink {
  readonly print: (text: string) => void;
  /** How wide the screen is. */
  readonly columns: number;
}

/** Writes words on lines that are as wide as the screen. A word that is wider than the screen is written as it is. */
export interface WordWrapper {
  /** Writes a word, with the blanks before it, which are left out at the beginning of a line that was wrapped. */
  word(blanks: string, text: string, styled?: string): void;
  /** Ends the line. */
  endLine(): void;
  /** What the lines begin with to which the text is wrapped: below the text of a list, say. */
  indent: string;
  readonly isLineOpen: boolean;
}

/** Makes a wrapper. */
export function createWordWrapper({ print, columns }: WrapSink): WordWrapper {
  let width = 0;
  const wrapper = {
    indent: "",
    get isLineOpen() {
      return width > 0;
    },
    word(blanks: string, text: string, styled = text) {
      const before = textWidth(blanks);
      const own = textWidth(text);
      const indent = textWidth(withoutStyles(wrapper.indent));
      if (width > indent && width + before + own > columns) {
        print(`\n${wrapper.indent}${styled}`);
        width = indent + own;
        return;
      }
      print(blanks + styled);
      width += before + own;
    },
    endLine() {
      print("\n");
      width = 0;
      wrapper.indent = "";
    },
  };
  return wrapper;
}

/** Wraps the lines of a text that are wider than the screen. */
export function wrapText(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text
    .split("\n")
    .map((line) => (textWidth(withoutStyles(line)) > columns ? wrapLine(line, columns) : line))
    .join("\n");
}

const styles = /\u001B\[[\d;]*m/gu;

function withoutStyles(text: string): string {
  return text.replaceAll(styles, "");
}

function wrapLine(line: string, columns: number): string {
  let wrapped = "";
  const wrapper = createWordWrapper({ print: (piece) => (wrapped += piece), columns });
  wrapper.indent = /^ */u.exec(line)?.[0] ?? "";
  for (const [, blanks = "", word = ""] of line.matchAll(/( *)([^ ]+)/gu)) {
    wrapper.word(blanks, withoutStyles(word), word);
  }
  return wrapped;
}
