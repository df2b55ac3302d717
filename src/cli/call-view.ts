import { isDeepStrictEqual } from "node:util";

import { toFailure, type Failure } from "../core/errors.ts";
import type { CallEvent, CallLog, Progress } from "../core/events.ts";
import type { JsonValue } from "../core/json.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import type { Answer, Invocation } from "./cli-command.ts";
import { withoutLineEnd } from "../runtimes/parse-exactly.ts";
import { findHints, failedAnswer } from "./report-error.ts";
import { toPrintable, toPrintableLine } from "./printable.ts";

/** What a person sees of a call while it runs. */
export interface CallView {
  readonly onEvent: (event: CallEvent) => void;
  /** The text for the output, without what has already been shown as chunks. */
  renderRest(output: JsonValue): string;
  /** Why the call failed, without what the tool said about it on standard error and everybody has read. */
  renderFailure(error: Failure): string;
  /** What the command answers when the call is over. */
  toAnswer(outcome: ToolOutcome): Answer;
}

/** What may be said to {@link createCallView}. */
export interface CallViewOptions {
  /** The command that says what the tool takes. @default `kitbag show` */
  readonly help?: string;
}

/** Makes a view that shows progress and log on standard error and chunks on standard output, as they come. */
export function createCallView(
  { terminal, json }: Pick<Invocation, "terminal" | "json">,
  { help }: CallViewOptions = {},
): CallView {
  const chunks: JsonValue[] = [];
  let rootCall: string | undefined;
  let isAtLineStart = true;
  let lastLog: string | undefined;
  let letter: string | undefined;

  const show = (text: string): void => {
    terminal.print(terminal.toShown(text));
    isAtLineStart = text.endsWith("\n");
  };

  const view: CallView = {
    onEvent(event) {
      if (event.type === "call-start" && event.parent === undefined) rootCall = event.call;
      if (event.type === "call-progress") terminal.showStatus(renderProgress(event.progress));
      // What calls inside this one say belongs to the tool that made them.
      if (!("call" in event) || event.call !== rootCall) return;
      if (event.type === "call-log") {
        lastLog = event.message;
        terminal.note(`${renderLog(event)}\n`);
      }
      if (event.type === "call-kept") ({ letter } = event);
      if (event.type !== "call-chunk" || json) return;
      chunks.push(event.chunk);
      show(typeof event.chunk === "string" ? event.chunk : `${JSON.stringify(event.chunk)}\n`);
    },
    renderRest(output) {
      const lineEnd = isAtLineStart ? "" : "\n";
      if (chunks.length > 0 && isAlreadyShown(output, chunks)) return lineEnd;
      const text = typeof output === "string" ? output : JSON.stringify(output, null, 2);
      return lineEnd + terminal.toShown(text);
    },
    renderFailure(error) {
      const lineEnd = isAtLineStart || !terminal.isScreen ? "" : "\n";
      return lineEnd + withoutRead(error, { lastLog, hasChunks: chunks.length > 0 });
    },
    toAnswer(outcome) {
      if (outcome.status === "ok") return { document: outcome, text: view.renderRest(outcome.output) };
      const { error } = outcome;
      // A program that reads the message has no use for them.
      const hints = terminal.isWatched ? findHints(error, { help, kept: letter }) : [];
      const failure = [view.renderFailure(error), ...hints].join("\n");
      return { ...failedAnswer(error), failure: toPrintable(failure) };
    },
  };
  return view;
}

function isAlreadyShown(output: JsonValue, chunks: readonly JsonValue[]): boolean {
  if (!chunks.every((chunk) => typeof chunk === "string")) return isDeepStrictEqual(output, chunks);
  const printed = chunks.join("");
  // An output that is a text has lost the line break at its end.
  return printed === output || withoutLineEnd(printed) === output;
}

function renderLog({ message, data }: CallLog): string {
  return toPrintable(data === undefined ? message : `${message} ${JSON.stringify(data)}`);
}

interface Read {
  readonly lastLog: string | undefined;
  readonly hasChunks: boolean;
}

/** The last lines of stderr are on the screen already if the last of them is, and what was printed if any of it came in pieces. */
function withoutRead(error: Failure, { lastLog, hasChunks }: Read): string {
  const isRead = (text = ""): boolean => lastLog !== undefined && text.trimEnd().endsWith(lastLog.trimEnd());
  if (error.code === "script-failed") {
    const { message, details } = error;
    return isRead(details.stderr) ? message.replace(`: ${details.stderr}`, () => "") : message;
  }
  if (!("untilThen" in error.details) || error.details.untilThen === undefined) return error.message;
  const { stdout, stderr, console, ...rest } = error.details.untilThen;
  const unread = {
    ...rest,
    ...(stdout !== undefined && !hasChunks && { stdout }),
    ...(stderr !== undefined && !isRead(stderr) && { stderr }),
    ...(console !== undefined && !isRead(console) && { console }),
  };
  return toFailure(error.code, { ...error.details, untilThen: unread }).message;
}

function renderProgress({ message = "", done, total }: Progress): string {
  const count = done === undefined ? "" : total === undefined ? String(done) : `${done}/${total}`;
  return toPrintableLine([count, message].filter((part) => part !== "").join(" "));
}
