import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { createLineSplitter } from "../../../platform/lines.ts";
import type { PythonModules, PythonReading } from "./python-facts.ts";

/** One helper process, fed line by line. */
export interface PythonProcess {
  /** Asks for one file. Answers come in the order of the requests. */
  ask(source: string, modules?: PythonModules): Promise<PythonAnswer>;
  /** How many files it was asked for. */
  countAsked(): number;
  /** Lets it end when the last answer has come. */
  finish(): void;
  kill(): void;
}

/** An answer; `lost` means that the process ended before it came, through another request or through this one. */
export type PythonAnswer =
  | PythonReading
  | { readonly ok: "lost"; readonly first: boolean; readonly ready: boolean; readonly message: string };

/** How a helper process is started. */
export interface PythonProcessOptions {
  readonly command: readonly string[];
  /** The process is stopped when an answer takes longer. */
  readonly limitMs: number;
}

const helper = fileURLToPath(new URL("read_scripts.py", import.meta.url));

/** Isolated from the user's settings, without `site`, and without writing anything. */
const flags = ["-I", "-S", "-B", "-W", "ignore"];

const longestAnswer = 16 * 1024 * 1024;

interface Waiting {
  readonly id: number;
  readonly settle: (answer: PythonAnswer) => void;
}

/** Starts a helper process. It never throws: a program that cannot be started loses all its requests. */
export function startPython({ command, limitMs }: PythonProcessOptions): PythonProcess {
  const child = startHelper(command);
  const waiting: Waiting[] = [];
  let lastId = 0;
  let ready = false;
  let ended = false;
  let stderr = "";
  let timer: NodeJS.Timeout | undefined;

  function watch(): void {
    clearTimeout(timer);
    if (waiting.length > 0 && !ended) timer = setTimeout(() => end(`it took longer than ${limitMs} ms`), limitMs);
  }

  function end(message: string): void {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    child.kill("SIGKILL");
    for (const [index, { settle }] of waiting.splice(0).entries())
      settle({ ok: "lost", first: index === 0, ready, message });
  }

  function take(line: string): void {
    const message = parseLine(line);
    if (message === undefined) return end("it answered with something that is not JSON");
    if ("ready" in message) ready = true;
    else if (message.id !== waiting[0]?.id) return end("it answered out of order");
    else waiting.shift()?.settle(toReading(message));
    watch();
  }

  child.on("error", (cause) => end(cause.message));
  child.on("close", (code) => end(stderr.trim().slice(-300) || `it ended with code ${code}`));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-2000)));
  child.stdin.on("error", () => {});
  const onTooLong = (): void => end("an answer was too long");
  const lines = createLineSplitter({ maxBytes: longestAnswer, onLine: (line) => take(line.toString()), onTooLong });
  child.stdout.on("data", lines.push);

  return {
    countAsked: () => lastId,
    ask(source, modules) {
      return new Promise((resolve) => {
        if (ended) return resolve({ ok: "lost", first: false, ready, message: "the process has ended" });
        lastId += 1;
        waiting.push({ id: lastId, settle: resolve });
        child.stdin.write(`${JSON.stringify({ id: lastId, source: source.toWellFormed(), modules })}\n`);
        if (waiting.length === 1) watch();
      });
    },
    finish: () => child.stdin.end(),
    kill: () => end("it was stopped"),
  };
}

function startHelper([program = "python3", ...before]: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(program, [...before, ...flags, helper], { stdio: "pipe", env: minimalEnvironment() });
}

/** What a program needs to be found and started; nothing of it reaches the source that is read. */
function minimalEnvironment(): NodeJS.ProcessEnv {
  const kept = ["PATH", "HOME", "SystemRoot", "LANG"].map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

interface Message {
  readonly ready?: string;
  readonly id?: number;
  readonly facts?: unknown;
  readonly error?: { readonly kind: "syntax" | "deep" | "failed"; readonly message: string; readonly line: number };
}

function parseLine(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}

function toReading({ facts, error }: Message): PythonReading {
  if (error !== undefined) return { ok: false, reason: error.kind, message: error.message, line: error.line };
  return { ok: true, facts } as PythonReading;
}
