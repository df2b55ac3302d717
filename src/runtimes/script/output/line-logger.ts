/** The longest line that is told in one piece. */
const longestLine = 8000;

/** Text that comes in pieces, told line by line. */
export interface LineLogger {
  push(text: string): void;
  /** Tells the line that has no end. */
  flush(): void;
}

/** Tells each line of a text that comes in pieces, until `maxCharacters` were told. */
export function createLineLogger(log: (line: string) => void, maxCharacters: number): LineLogger {
  let held = "";
  let left = maxCharacters;

  function tell(line: string): void {
    if (left <= 0) return;
    left -= line.length + 1;
    if (line !== "") log(line);
    if (left <= 0) log("… there was more on stderr than is shown");
  }

  return {
    push(text) {
      if (left <= 0) return;
      const lines = (held + text).split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) tell(line.endsWith("\r") ? line.slice(0, -1) : line);
      while (held.length > longestLine) {
        tell(held.slice(0, longestLine));
        held = held.slice(longestLine);
      }
    },
    flush() {
      if (held !== "") tell(held);
      held = "";
    },
  };
}
