import { readFileSync } from "node:fs";

/** How many files a process may have open. */
export interface OpenFileLimit {
  /** What it may have now. */
  readonly soft: number;
  /** What it may set itself, and what it starts. */
  readonly hard: number;
}

/** Reads the limit of this process; no limit where the system does not tell. */
export function readOpenFileLimit(table = readTable()): OpenFileLimit {
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/mu.exec(table) ?? [];
  return { soft: toNumber(soft), hard: toNumber(hard) };
}

function readTable(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Only Linux has it.
    return "";
  }
}

function toNumber(word = "unlimited"): number {
  return word === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(word);
}
