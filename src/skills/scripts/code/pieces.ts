/** A comment or a string of a script. */
export interface Piece {
  readonly kind: "comment" | "string";
  /** Without what marks it, with the common escapes undone. */
  readonly text: string;
  /** Of the whole of it, with its marks. */
  readonly start: number;
  readonly end: number;
  /** Counts from 1. */
  readonly line: number;
}

/**
 * The texts of a script: its comments, and its strings as they would be printed. Neighbouring lines are one text, so that a help
 * that is printed line by line is whole again.
 */
export function textsOf(source: string, pieces: readonly Piece[]): readonly string[] {
  const comments = pieces.filter(({ kind }) => kind === "comment");
  return [
    ...commentTexts(comments),
    ...stringTexts(
      source,
      pieces.filter(({ kind, text }) => kind === "string" && text !== ""),
    ),
  ];
}

/** Comments, with those on lines that follow each other as one text. */
function commentTexts(comments: readonly Piece[]): readonly string[] {
  const texts: string[] = [];
  let lastLine = -10;
  for (const { text, line } of comments) {
    const isNext = line === lastLine + 1 && !text.includes("\n");
    if (isNext && texts.length > 0) texts.push(`${texts.pop() ?? ""}\n${text}`);
    else texts.push(withoutStars(text));
    lastLine = line;
  }
  return texts;
}

/** The text of a block comment, without the stars of its lines. */
function withoutStars(text: string): string {
  return text.includes("\n") ? text.replaceAll(/^[ \t]*\*+(?!\/) ?/gmu, "") : text;
}

/** The first description among the comments at the head of a script, which end where its code begins at `firstLine`. */
export function headComments(pieces: readonly Piece[], firstLine: number): readonly string[] {
  return commentTexts(
    pieces.filter(({ kind, line, text }) => kind === "comment" && line <= firstLine + 3 && !text.startsWith("!")),
  );
}

/** Lines that are printed within this distance of each other belong together. */
const nearLines = 3;

function stringTexts(source: string, strings: readonly Piece[]): readonly string[] {
  const texts: string[] = [];
  let current = "";
  let last: Piece | undefined;
  for (const piece of strings) {
    // A string in the code of a template is a part of it.
    if (last !== undefined && piece.start < last.end) continue;
    if (last === undefined || piece.line > lastLine(last) + nearLines) {
      if (current !== "") texts.push(current);
      current = piece.text;
    } else {
      current += joint(source.slice(last.end, piece.start), lastLine(last) === piece.line) + piece.text;
    }
    last = piece;
  }
  if (current !== "") texts.push(current);
  return texts;
}

function lastLine({ line, text }: Piece): number {
  return line + text.split("\n").length - 1;
}

/** What stands between two strings when they are printed: nothing when they are joined, a blank when they are arguments. */
function joint(between: string, isSameLine: boolean): string {
  // Without the letters before a string: `f"…"`.
  const code = between
    .slice(0, 300)
    .replace(/(?<!\w)[rbfuRBFU]{1,2}$/u, "")
    .trim();
  if (code === "" || code === "+") return "";
  if (/^\+[\s\w+.()[\]]*$/u.test(code)) return "{}";
  if (!isSameLine) return "\n";
  return code.startsWith(",") && /\w/u.test(code) ? " {} " : " ";
}
