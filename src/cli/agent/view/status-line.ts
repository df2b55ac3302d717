import { cutText } from "../../render.ts";
import type { Terminal } from "../../terminal.ts";

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
    terminal.showStatus(cutText(`${frames[frame] ?? ""} ${what()}`, (terminal.columns ?? 80) - 1));
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
