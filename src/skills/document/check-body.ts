import { readMarkdownLines } from "./markdown-lines.ts";
import type { Reporter } from "./reporter.ts";

const recommendedLines = 500;
const recommendedTokens = 5000;
/** English text and Markdown have about four characters a token. */
const charactersPerToken = 4;

/** Reports what is odd about the instructions of a skill. */
export function checkBody(body: string, bodyLine: number, reporter: Reporter): void {
  if (body.trim() === "") {
    const where = { line: bodyLine, column: 1 };
    reporter.report("body-empty", "There are no instructions", where, "Write below the front matter what to do");
    return;
  }
  checkLength(body, bodyLine, reporter);
  if (body.includes("<<<<<<< ")) checkConflicts(body, bodyLine, reporter);
}

function checkLength(body: string, bodyLine: number, reporter: Reporter): void {
  const tokens = Math.ceil(body.length / charactersPerToken);
  const lines = body.length > recommendedLines ? countLines(body) : 0;
  if (lines <= recommendedLines && tokens <= recommendedTokens) return;
  const message = `The instructions have ${lines} lines and about ${tokens} tokens; ${recommendedLines} and ${recommendedTokens} are recommended`;
  reporter.report("body-long", message, { line: bodyLine, column: 1 }, "Move details to files under references/");
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** A merge that nobody finished: all three marks, in order, and not as an example in a code block. */
function checkConflicts(body: string, bodyLine: number, reporter: Reporter): void {
  let start: number | undefined;
  let halfway = false;
  for (const { text, index, fence } of readMarkdownLines(body)) {
    if (fence !== undefined) continue;
    if (text.startsWith("<<<<<<< ")) {
      start = index;
      halfway = false;
    } else if (text === "=======") halfway = true;
    else if (start !== undefined && halfway && text.startsWith(">>>>>>> ")) {
      const where = { line: bodyLine + start, column: 1 };
      reporter.report("conflict-marker", "The instructions contain an unresolved merge", where, "Keep one side of it");
      start = undefined;
    }
  }
}
