import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, onTestFinished } from "vitest";

/** A program of this folder that runs. */
export interface CrashProgram {
  /** The lines that it has said so far; the last one may be cut off and is not among them. */
  lines(): readonly string[];
  /** Resolves when a line begins with `start`; rejects if the program ends before. */
  waitFor(start: string): Promise<string>;
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  /** Resolves when it is gone. */
  readonly gone: Promise<void>;
}

// Most of the time of a start is reading TypeScript: that is kept for the next.
const cache = mkdtempSync(join(tmpdir(), "kitbag-crash-cache-"));
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** Starts a program; `before` is a program that starts it, with its arguments. It is killed when the test is over. */
export function startCrashProgram(name: string, args: readonly string[], before: readonly string[] = []): CrashProgram {
  const file = join(import.meta.dirname, "programs", name);
  const [command = "", ...rest] = [...before, process.execPath, "--conditions=@kitbag/source", file, ...args];
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, NODE_NO_WARNINGS: "1" };
  const child = spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"], env });
  const gone = once(child, "close").then(() => undefined);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  return { ...createLines(child), signal: (signal) => void child.kill(signal), gone };
}

function createLines(child: ChildProcess): Pick<CrashProgram, "lines" | "waitFor"> {
  let text = "";
  const lines = (): readonly string[] => text.split("\n").slice(0, -1);
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });

  async function waitFor(start: string): Promise<string> {
    for (;;) {
      const found = lines().find((line) => line.startsWith(start));
      if (found !== undefined) return found;
      if (child.stdout?.readableEnded !== false)
        throw new Error(`The program ended before it said "${start}": ${text}`);
      const heard = new AbortController();
      const { signal } = heard;
      await Promise.race([once(child.stdout, "data", { signal }), once(child.stdout, "end", { signal })]);
      heard.abort();
    }
  }

  return { lines, waitFor };
}
