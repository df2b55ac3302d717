import { createInterface, type Interface } from "node:readline";
import type { Transform } from "node:stream";
import type { ReadStream } from "node:tty";

import type { OutputStream } from "../../terminal.ts";
import type { ChatHistory } from "./chat-history.ts";
import { createPasteFilter, lineEndMark, pasteMarks } from "./paste-filter.ts";

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
