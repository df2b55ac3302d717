import { StringDecoder } from "node:string_decoder";

const longestTail = 2000;
const longestLine = 8000;

/** What a module writes to standard error: each line is logged, and the last ones are kept for its failure. */
export interface ErrorLog {
  write(bytes: Uint8Array): void;
  /** Logs what has no end of line yet, and answers with the last of it all. */
  end(): string;
}

/** Makes the log of one call; `logLine` gets each line that is not empty. */
export function createErrorLog(logLine: (line: string) => void): ErrorLog {
  const decoder = new StringDecoder("utf8");
  let line = "";
  let tail = "";

  function log(text: string): void {
    if (text.trim() !== "") logLine(text);
  }

  return {
    write(bytes) {
      const text = decoder.write(Buffer.from(bytes));
      tail = (tail + text).slice(-longestTail);
      const lines = (line + text).split("\n");
      line = lines.pop() ?? "";
      for (const one of lines) log(one);
      // A line without an end is not held for ever.
      if (line.length > longestLine) {
        log(line);
        line = "";
      }
    },
    end() {
      log(line);
      line = "";
      return tail.trim();
    },
  };
}
