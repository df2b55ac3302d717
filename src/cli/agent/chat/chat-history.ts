import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { makeHomeFolder } from "../../../platform/home.ts";
import { lineEndMark } from "./paste-filter.ts";

/** What a person has typed, the newest first. */
export interface ChatHistory {
  lines(): string[];
  add(text: string): void;
}

const maxLines = 1000;

/** Opens the history in Kitbag's home, for its owner alone. Where it cannot be kept, it lasts as long as the program. */
export function openChatHistory(home: string): ChatHistory {
  const file = join(home, "chat-history");
  const lines = load(file);
  return {
    lines: () => lines.toReversed(),
    add(text) {
      const line = text.replaceAll("\n", lineEndMark);
      if (line === lines.at(-1)) return;
      lines.push(line);
      keep(file, line, lines);
    },
  };
}

function load(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .slice(-maxLines);
  } catch {
    return [];
  }
}

function keep(file: string, line: string, lines: string[]): void {
  try {
    makeHomeFolder(dirname(file));
    if (lines.length > maxLines) {
      lines.splice(0, lines.length - maxLines / 2);
      writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
    } else {
      appendFileSync(file, `${line}\n`, { mode: 0o600 });
    }
    chmodSync(file, 0o600);
  } catch {
    // A home that cannot be written is no reason not to talk.
  }
}
