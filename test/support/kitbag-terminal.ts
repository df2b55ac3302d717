import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";

import { onTestFinished } from "vitest";

import { program, type Project } from "../run-kitbag.ts";

/** The command at a terminal: a pseudo-terminal that `script` of util-linux opens. */
export interface KitbagTerminal {
  /** Resolves when the screen has shown `text` since the last time that it was waited for. */
  waitFor(text: string): Promise<void>;
  type(keys: string): void;
  /** Closes the terminal, as a window is closed. */
  close(): void;
  /** All that was shown so far, with what moves the cursor. */
  shown(): string;
  /** Resolves with the exit code when the program is over. */
  readonly ended: Promise<number | null>;
}

/** A program that shows nothing for so long shows nothing more. */
const patienceMs = 40_000;

const root = resolve(import.meta.dirname, "../..");

/** Runs `kitbag` with these words at a terminal of 100 columns. */
export function startKitbagTerminal(
  words: readonly string[],
  project: Project,
  env: Readonly<Record<string, string>> = {},
): KitbagTerminal {
  const line = [...program, ...words];
  const command = `stty cols 100 rows 40; exec ${line.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    cwd: project.folder,
    env: {
      PATH: process.env["PATH"],
      HOME: dirname(project.folder),
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/kitbag-compile"),
      KITBAG_HOME: project.home,
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      ...env,
    },
  });
  const ended = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  // A program that has ended reads no more.
  child.stdin.on("error", () => {});
  return {
    ended,
    type: (keys) => void child.stdin.write(keys),
    close: () => void child.kill("SIGKILL"),
    ...watch(child.stdout.setEncoding("utf8")),
  };
}

function watch(stream: Readable): Pick<KitbagTerminal, "shown" | "waitFor"> {
  let shown = "";
  let seen = 0;
  let hasEnded = false;
  let wake = (): void => {};
  stream.on("data", (piece: string) => {
    shown += piece;
    wake();
  });
  stream.on("end", () => {
    hasEnded = true;
    wake();
  });

  return {
    shown: () => shown,
    async waitFor(text) {
      for (;;) {
        const at = shown.indexOf(text, seen);
        if (at !== -1) {
          seen = at + text.length;
          return;
        }
        if (hasEnded) throw new Error(`The program ended before it showed "${text}": ${shown}`);
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`It did not show "${text}": ${shown}`)), patienceMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
  };
}
