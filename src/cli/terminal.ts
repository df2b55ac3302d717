import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { styleText } from "node:util";

import { toPrintable } from "./printable.ts";

/** The name of a colour or a weight of `util.styleText`. */
export type Style = Parameters<typeof styleText>[0];

/** A stream that may be a screen. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** A stream that may be a keyboard. */
export type InputStream = Readable & { readonly isTTY?: boolean };

/** Where a command talks to: a person, or a program behind a pipe. */
export interface Terminal {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  note(text: string): void;
  /** Shows a line of standard error that the next one replaces; nothing without a screen that can do that. */
  showStatus(text: string): void;
  /** Colours text for standard output, if that is a screen. */
  style(style: Style, text: string): string;
  /** Makes text from elsewhere harmless for standard output if that is a screen; a pipe gets it as it is. */
  toShown(text: string): string;
  /** Asks on standard error and reads one line; nothing if the person ends the input (Ctrl-C, Ctrl-D) instead. */
  ask(question: string, options?: AskOptions): Promise<string | undefined>;
  /** All of standard input. @throws {RangeError} if it is longer than `maxBytes`. */
  readInput(maxBytes: number): Promise<string>;
  /** Waits until everything that was written has left this process. */
  flush(): Promise<void>;
  /** A person is there to be asked. */
  readonly canAsk: boolean;
  /** Standard output is a screen. */
  readonly isScreen: boolean;
  /** Standard error is a screen. */
  readonly isWatched: boolean;
  readonly hasColour: boolean;
  /** How wide the screen is; none for a pipe. */
  readonly columns: number | undefined;
}

/** How a question is asked. */
export interface AskOptions {
  /** Drops the lines that were typed before the question is shown: they do not answer it. @default they do */
  readonly dropTyped?: boolean;
}

/** The streams and the environment that {@link createTerminal} takes. */
export interface TerminalStreams {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const eraseLine = "\r\u001B[K";

/** Makes a terminal out of streams. Its `print` keeps working when `stdout.write` is replaced later. */
export function createTerminal({ stdin, stdout, stderr, env }: TerminalStreams): Terminal {
  const write = stdout.write.bind(stdout);
  const isScreen = stdout.isTTY === true;
  const isWatched = stderr.isTTY === true;
  const hasColour = isScreen && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const canErase = isWatched && env["TERM"] !== "dumb";
  let hasStatus = false;

  const clearStatus = (): void => {
    if (hasStatus) stderr.write(eraseLine);
    hasStatus = false;
  };

  return {
    print(text) {
      clearStatus();
      write(text);
    },
    note(text) {
      clearStatus();
      stderr.write(text);
    },
    showStatus(text) {
      if (!canErase) return;
      stderr.write(eraseLine + text.slice(0, widthOf(stderr) - 1));
      hasStatus = true;
    },
    style: (style, text) => (hasColour && text !== "" ? styleText(style, text, { validateStream: false }) : text),
    toShown: (text) => (isScreen ? toPrintable(text) : text),
    async ask(question, { dropTyped: mustDrop = false } = {}) {
      clearStatus();
      if (mustDrop) await dropTyped(stdin);
      return askOnce(question, stdin, stderr);
    },
    readInput: (maxBytes) => readAll(stdin, maxBytes),
    async flush() {
      clearStatus();
      await Promise.all([
        new Promise((resolve) => write("", resolve)),
        new Promise((resolve) => stderr.write("", resolve)),
      ]);
    },
    canAsk: stdin.isTTY === true && isWatched,
    isScreen,
    isWatched,
    hasColour,
    get columns() {
      return isScreen ? widthOf(stdout) : undefined;
    },
  };
}

/** Some screens do not say how wide they are, or say 0. */
function widthOf({ columns = 0 }: OutputStream): number {
  return columns > 0 ? columns : 80;
}

/** Reads what waits in the stream and in the operating system until nothing comes, and keeps nothing of it. */
async function dropTyped(input: InputStream): Promise<void> {
  let hasMore = true;
  const onData = (): void => {
    hasMore = true;
  };
  input.on("data", onData);
  while (hasMore) {
    hasMore = false;
    await setTimeout(quietMs);
  }
  input.off("data", onData).pause();
}

const quietMs = 20;

async function askOnce(question: string, input: InputStream, output: OutputStream): Promise<string | undefined> {
  if (input.readableEnded) {
    output.write(`${question}\n`);
    return undefined;
  }
  const lines = createInterface({ input, output });
  return new Promise((resolve) => {
    const onEnd = (): void => {
      output.write("\n");
      resolve(undefined);
    };
    lines.once("close", onEnd);
    lines.question(question, (answer) => {
      lines.off("close", onEnd).close();
      resolve(answer.trim());
    });
  });
}

/** Tells whether an answer is a yes; anything unclear is a no. */
export function isYes(answer: string | undefined): boolean {
  return answer !== undefined && /^y(?:es)?$/iu.test(answer);
}

async function readAll(stream: Readable, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    const buffer = Buffer.from(piece as Uint8Array | string);
    bytes += buffer.length;
    if (bytes > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
    pieces.push(buffer);
  }
  return Buffer.concat(pieces).toString("utf8");
}
