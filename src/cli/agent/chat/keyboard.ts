import { createInterface, type Interface } from "node:readline";
import { Transform } from "node:stream";
import type { ReadStream } from "node:tty";
import { StringDecoder } from "node:string_decoder";
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { OutputStream } from "../../terminal.ts";
import { makeHomeFolder } from "../../../platform/home.ts";

/** Finds what the end of a line could become, and what of it that replaces. */
export type Complete = (line: string) => [hits: string[], replaced: string];

/** What a keyboard is made of. */
export interface KeyboardOptions {
  readonly input: ReadStream;
  readonly output: OutputStream;
  readonly history: ChatHistory;
  readonly complete: Complete;
}

/** A person who types. */
export interface Keyboard {
  /** What he says next; nothing when he wants to leave: Ctrl-D, or Ctrl-C twice. */
  next(prompt: string): Promise<string | undefined>;
}

/**
 * Makes a keyboard with editing, history and completion. Between two lines the terminal is as it was, so that Ctrl-C is a signal
 * again and others can ask. What is typed meanwhile are the next lines.
 */
export function createKeyboard(options: KeyboardOptions): Keyboard {
  const { input } = options;
  // Readline asks its input to switch the terminal: the filter stands for the keyboard there. It keeps lines that are typed ahead.
  const keys = Object.assign(createPasteFilter(), {
    isTTY: true,
    setRawMode: (mode: boolean) => input.setRawMode(mode),
  });
  return {
    async next(prompt) {
      let text = await readLine(options, prompt, keys);
      while (text?.endsWith("\\") === true) {
        const more: string | undefined = await readLine(options, "… ", keys);
        text = `${text.slice(0, -1)}\n${more ?? ""}`;
      }
      if (text !== undefined && text.trim() !== "") options.history.add(text);
      return text;
    },
  };
}

function readLine(
  { input, output, history, complete }: KeyboardOptions,
  prompt: string,
  keys: Transform,
): Promise<string | undefined> {
  input.pipe(keys);
  output.write(pasteMarks.on);
  const reader = createInterface({
    input: keys,
    output,
    terminal: true,
    history: history.lines(),
    historySize: 1000,
    completer: complete,
    prompt,
  });
  return new Promise((resolve) => {
    let isDone = false;
    const finish = (text: string | undefined): void => {
      if (isDone) return;
      isDone = true;
      output.write(pasteMarks.off);
      reader.close();
      input.unpipe(keys);
      input.pause();
      resolve(text);
    };
    reader.on("line", (line) => finish(line.replaceAll(lineEndMark, "\n")));
    reader.on("close", () => {
      if (!isDone) output.write("\n");
      finish(undefined);
    });
    onInterrupt(reader, output, () => finish(undefined));
    reader.prompt();
  });
}

/** Ctrl-C empties the line; on an empty one it says how to leave, and the second time it leaves. */
function onInterrupt(reader: Interface, output: OutputStream, leave: () => void): void {
  let wantsToLeave = false;
  reader.on("SIGINT", () => {
    output.write("\n");
    if (reader.line === "" && wantsToLeave) return leave();
    wantsToLeave = reader.line === "";
    if (wantsToLeave) output.write("Ctrl-C again leaves, and so do Ctrl-D and /quit\n");
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    reader.prompt();
  });
}

/** What stands for a line end in a line that is edited: no keyboard has it. */
const lineEndMark = "␤";

const begin = "\u001B[200~";
const end = "\u001B[201~";

/** Has a terminal mark what is pasted; and not any more. */
const pasteMarks = { on: "\u001B[?2004h", off: "\u001B[?2004l" } as const;

/**
 * Makes a filter between a keyboard and the reader of its lines: a pasted text of several lines becomes one line, so that it is one
 * request and not several. Each line is a separate chunk, so that reading one leaves the next. Terminal control sequences are removed.
 */
export function createPasteFilter(): Transform {
  const decoder = new StringDecoder("utf8");
  let isPaste = false;
  let held = "";

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let text = held + decoder.write(chunk);
      held = "";
      let out = "";
      for (;;) {
        const mark = isPaste ? end : begin;
        const at = text.indexOf(mark);
        if (at === -1) break;
        out += isPaste ? toOneLine(text.slice(0, at)) : text.slice(0, at);
        text = text.slice(at + mark.length);
        isPaste = !isPaste;
      }
      const cut = text.length - heldLength(text, isPaste ? end : begin);
      held = text.slice(cut);
      const rest = text.slice(0, cut);
      const passed = out + (isPaste ? toOneLine(rest) : rest);
      for (const line of passed.split(/(?<=\n|\r(?!\n))/u)) this.push(line);
      done();
    },
  });
}

/** How much of the end may be the beginning of a mark. A lone escape is the key of this name, unless something is pasted. */
function heldLength(text: string, mark: string): number {
  const least = mark === end ? 1 : 2;
  for (let length = Math.min(mark.length - 1, text.length); length >= least; length -= 1) {
    if (mark.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

function toOneLine(text: string): string {
  return text
    .replaceAll("\t", "  ")
    .replaceAll(/\r\n?|\n/gu, lineEndMark)
    .replaceAll(/\p{Cc}/gu, "");
}

/** What a person has typed, the newest first. */
interface ChatHistory {
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
