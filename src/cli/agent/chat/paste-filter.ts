import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** What stands for a line end in a line that is edited: nobody types it. */
export const lineEndMark = "␤";

const begin = "\u001B[200~";
const end = "\u001B[201~";

/** Has a terminal mark what is pasted; and not any more. */
export const pasteMarks = { on: "\u001B[?2004h", off: "\u001B[?2004l" } as const;

/**
 * Makes a filter between a keyboard and what reads its lines: a text of several lines that is pasted becomes one line, so that it
 * is one request and not several. Each line is a piece of its own: who reads one leaves the next. What a terminal would obey is taken out of it.
 */
export function createPasteFilter(): Transform {
  const decoder = new StringDecoder("utf8");
  let isPaste = false;
  let held = "";

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let text = held + decoder.write(chunk);
      held = "";
      let out = "";
      for (;;) {
        const mark = isPaste ? end : begin;
        const at = text.indexOf(mark);
        if (at === -1) break;
        out += isPaste ? toOneLine(text.slice(0, at)) : text.slice(0, at);
        text = text.slice(at + mark.length);
        isPaste = !isPaste;
      }
      const cut = text.length - heldLength(text, isPaste ? end : begin);
      held = text.slice(cut);
      const rest = text.slice(0, cut);
      const passed = out + (isPaste ? toOneLine(rest) : rest);
      for (const line of passed.split(/(?<=\n|\r(?!\n))/u)) this.push(line);
      done();
    },
  });
}

/** How much of the end may be the beginning of a mark. A lone escape is the key of this name, unless something is pasted. */
function heldLength(text: string, mark: string): number {
  const least = mark === end ? 1 : 2;
  for (let length = Math.min(mark.length - 1, text.length); length >= least; length -= 1) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

function toOneLine(text: string): string {
  return text
    .replaceAll("\t", "  ")
    .replaceAll(/\r\n?|\n/gu, lineEndMark)
    .replaceAll(/\p{Cc}/gu, "");
}
