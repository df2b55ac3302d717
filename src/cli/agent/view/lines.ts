import type { JsonValue } from "../../../core/json.ts";
import { toPrintableLine } from "../../printable.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";
import { cutToWidth } from "../../render.ts";
import type { Terminal } from "../../terminal.ts";

/** The input of a call in a few words: `file: README.md, top: 3`. */
export function showInput(input: JsonValue): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return showValue(input);
  return Object.entries(input)
    .map(([name, value]) => `${toPrintableLine(name)}: ${showValue(value)}`)
    .join(", ");
}

/** A value on one line; a plain text as it is. */
export function showValue(value: JsonValue): string {
  const isPlain = typeof value === "string" && /^[^\s"'{[][^\n]{0,200}$/u.test(value);
  return toPrintableLine(isPlain ? value : JSON.stringify(value));
}

/** The outcome of a call, on one line. */
export function showOutcome(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? showOutput(outcome.output) : toPrintableLine(outcome.error.message);
}

function showOutput(output: JsonValue): string {
  const text = typeof output === "string" ? output.trim() : JSON.stringify(output);
  return text === "" ? "(nothing)" : toPrintableLine(text);
}

/** A line at the bottom of the screen that says what is going on now, and moves while it does. */
export interface StatusLine {
  /** Says what is going on from now on; nothing ends it. */
  show(what: (() => string) | undefined): void;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const frameMs = 100;

/** Makes the line. Who reads standard error in a file sees nothing of it. */
export function createStatusLine(terminal: Pick<Terminal, "showStatus" | "isWatched" | "columns">): StatusLine {
  let what: (() => string) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let frame = 0;

  const draw = (): void => {
    if (what === undefined) return;
    frame = (frame + 1) % frames.length;
    terminal.showStatus(cutToWidth(`${frames[frame] ?? ""} ${what()}`, (terminal.columns ?? 80) - 1));
  };

  return {
    show(next) {
      if (!terminal.isWatched) return;
      what = next;
      if (next === undefined) {
        clearInterval(timer);
        timer = undefined;
        return;
      }
      // Work that is over at once needs no words: the first ones come with the first tick.
      timer ??= setInterval(draw, frameMs).unref();
    },
  };
}
