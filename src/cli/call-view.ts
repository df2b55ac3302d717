import { isDeepStrictEqual } from "node:util";

import type { CallEvent, Progress } from "../core/events.ts";
import type { JsonValue } from "../core/json.ts";
import type { Invocation } from "./cli-command.ts";
import { toPrintableLine } from "./printable.ts";

/** What a person sees of a call while it runs. */
export interface CallView {
  readonly onEvent: (event: CallEvent) => void;
  /** The text for the output, without what has already been shown as chunks. */
  renderRest(output: JsonValue): string;
}

/** Makes a view that shows progress on standard error and chunks, as they come, on standard output. */
export function createCallView({ terminal, json }: Pick<Invocation, "terminal" | "json">): CallView {
  const chunks: JsonValue[] = [];
  let rootCall: string | undefined;
  let isAtLineStart = true;

  const show = (text: string): void => {
    terminal.print(terminal.toShown(text));
    isAtLineStart = text.endsWith("\n");
  };

  return {
    onEvent(event) {
      if (event.type === "call-start" && event.parent === undefined) rootCall = event.call;
      if (event.type === "call-progress") terminal.showStatus(renderProgress(event.progress));
      // Chunks of calls inside this one belong to the tool that made them, not to the output.
      if (event.type !== "call-chunk" || event.call !== rootCall || json) return;
      chunks.push(event.chunk);
      show(typeof event.chunk === "string" ? event.chunk : `${JSON.stringify(event.chunk)}\n`);
    },
    renderRest(output) {
      const lineEnd = isAtLineStart ? "" : "\n";
      if (chunks.length > 0 && isAlreadyShown(output, chunks)) return lineEnd;
      const text = typeof output === "string" ? output : JSON.stringify(output, null, 2);
      return lineEnd + terminal.toShown(text);
    },
  };
}

function isAlreadyShown(output: JsonValue, chunks: readonly JsonValue[]): boolean {
  const isText = chunks.every((chunk) => typeof chunk === "string");
  return isText ? chunks.join("") === output : isDeepStrictEqual(output, chunks);
}

function renderProgress({ message = "", done, total }: Progress): string {
  const count = done === undefined ? "" : total === undefined ? String(done) : `${done}/${total}`;
  return toPrintableLine([count, message].filter((part) => part !== "").join(" "));
}
