/** One line of a Markdown text. */
export interface MarkdownLine {
  /** Without its end. */
  readonly text: string;
  /** Where it begins in the whole text. */
  readonly offset: number;
  /** Counts from 0. */
  readonly index: number;
  /** It is part of a fenced code block: opens it, closes it, or stands inside. */
  readonly fence?: "opens" | "inside" | "closes";
  /** What stands behind the opening fence of the block: the language. */
  readonly info?: string;
}

const fenceForm = /^[ \t]*(?:> ?|[-*+] |\d{1,9}[.)] )*[ \t]*(`{3,}|~{3,})(.*)$/u;

/** Reads a text line by line and tells which lines are code. Contract: takes time in proportion to the text. */
export function* readMarkdownLines(text: string): Generator<MarkdownLine> {
  let open: Fence | undefined;
  let index = 0;
  for (let offset = 0; offset <= text.length; index++) {
    const next = text.indexOf("\n", offset);
    const line = text.slice(offset, next === -1 ? undefined : next);
    const found = parseFence(line);
    if (open !== undefined) {
      const closes = found !== undefined && found.mark.startsWith(open.mark) && found.info === "";
      yield { text: line, offset, index, fence: closes ? "closes" : "inside", info: open.info };
      if (closes) open = undefined;
    } else if (found === undefined || isCodeSpan(found)) yield { text: line, offset, index };
    else {
      open = found;
      yield { text: line, offset, index, fence: "opens", info: open.info };
    }
    offset = next === -1 ? text.length + 1 : next + 1;
  }
}

interface Fence {
  readonly mark: string;
  readonly info: string;
}

function parseFence(line: string): Fence | undefined {
  if (!line.includes("```") && !line.includes("~~~")) return undefined;
  const [, mark, info = ""] = fenceForm.exec(line) ?? [];
  return mark === undefined ? undefined : { mark, info: info.trim() };
}

function isCodeSpan({ mark, info }: Fence): boolean {
  return mark.startsWith("`") && info.includes("`");
}
