import { longestTimerMs } from "../../core/async.ts";
import type { DebugOptions } from "../../runtimes/debug/debug-launcher.ts";
import type { DebugEvent, DebugSession } from "../../runtimes/debug/debug-session.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { getText, getTexts } from "../options.ts";
import { toPrintableLine } from "../printable.ts";
import { openLines } from "./lines.ts";
import {
  renderBreakpoint,
  renderSource,
  runCommand,
  setBreak,
  parseBreaks,
  type BreakWords,
  type CommandHost,
  type Next,
} from "./run-command.ts";

/** What debugging changes in a call. */
export interface Debugging {
  /** For the runtimes. */
  readonly options: { readonly debug: DebugOptions };
  /** No time passes for a person who looks. */
  readonly limitMs: number;
  /** @throws {KitbagError} `usage-invalid` for a tool that is no script. */
  check(found: RegisteredTool | undefined): void;
}

const prompt = "(debug) ";

/**
 * Debugs the script of a call at the terminal, or by commands from standard input. To ask for it is the consent.
 *
 * @throws {KitbagError} `usage-invalid` if another option wants standard input or a time limit.
 */
export function createDebugging(invocation: Invocation): Debugging {
  const { options } = invocation;
  const breaks = parseBreaks(getTexts(options, "break"));
  if (getText(options, "input") === "-") {
    throw usageError("Cannot use --debug with --input -: standard input has the commands; use --input @file");
  }
  if (options["learn"] === true) throw usageError("Cannot use --debug with --learn: do one after the other");
  if (getText(options, "limitMs") !== undefined) {
    throw usageError("Cannot use --debug with --limit-ms: a script that is stopped takes as long as you look at it");
  }
  let hasSession = false;
  return {
    limitMs: longestTimerMs,
    check(found) {
      if (found === undefined || found.tool.code.kind === "script") return;
      throw usageError(`Cannot debug ${found.address}: only scripts can be, and it is a ${found.tool.code.kind} tool`);
    },
    options: {
      debug: {
        // A script that this one calls runs as always: there is one person to ask.
        wants: () => !hasSession,
        onSession(session) {
          hasSession = true;
          void talk(invocation, session, breaks);
        },
      },
    },
  };
}

/** Asks the person what to do, whenever the script is stopped. */
async function talk({ terminal }: Invocation, session: DebugSession, breaks: readonly BreakWords[]): Promise<void> {
  const host: CommandHost = { session, terminal, breaks: new Map() };
  const lines = openLines(process.stdin, process.stderr, () => {
    // One who interrupts a script that is stopped wants to leave.
    if (session.stopped !== undefined) session.terminate();
    else session.pause().catch(() => session.terminate());
  });
  const moments = followStops(session);
  session.onEvent((event) => {
    if (event.type === "breakpoint") terminal.note(renderBreakpoint(event.breakpoint));
  });
  for (const words of breaks) {
    terminal.note(await setBreak(host, words).catch((cause: unknown) => `${String(cause)}\n`));
  }
  let last = "";
  for (;;) {
    const event = await moments.next();
    terminal.note(renderMoment(event) + renderSource(host, 0));
    if (event.type === "ended") break;
    let next: Next = "ask";
    while (next === "ask") {
      const line = await lines.next(prompt);
      last = line?.trim() === "" ? last : (line ?? "q");
      next = await runCommand(host, last);
    }
  }
  lines.close();
}

type Moment = Extract<DebugEvent, { type: "stopped" | "ended" }>;

/** The stops of a script and its end, one after the other. */
function followStops(session: DebugSession): { next(): Promise<Moment> } {
  const early: Moment[] = [];
  let waiting: ((event: Moment) => void) | undefined;
  session.onEvent((event) => {
    if (event.type !== "stopped" && event.type !== "ended") return;
    if (waiting === undefined) early.push(event);
    else waiting(event);
    waiting = undefined;
  });
  return {
    async next() {
      return early.shift() ?? new Promise((resolve) => (waiting = resolve));
    },
  };
}

const reasons = {
  start: "Before the first line",
  breakpoint: "Breakpoint",
  step: "Stopped",
  pause: "Paused",
  exception: "Not caught:",
  statement: "Stopped",
};

function renderMoment(event: Moment): string {
  if (event.type === "ended") {
    return { exited: "", terminated: "The script was ended\n", lost: "The script broke its debugger and was ended\n" }[
      event.reason
    ];
  }
  const text = event.text === undefined ? "" : ` ${event.text}`;
  return `${toPrintableLine(`${reasons[event.reason]}${text} at ${event.file}:${event.line}`)}\n`;
}
