import type { DebugAction, DebugStop } from "../../../agent/debug/create-debugger.ts";
import type { JsonValue } from "../../../core/json.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { breakpointForms, toBreakpoint, type WrittenBreakpoint } from "./parse-breakpoints.ts";
import { renderMessage, renderMessages } from "./render-stop.ts";

/** What a command is: something to do, or something to read. */
export type StopAnswer = { readonly action: DebugAction } | { readonly text: string };

/** What the commands look at beside the stop, and change. */
export interface StopView {
  readonly columns: number | undefined;
  readonly breakpoints: WrittenBreakpoint[];
}

const help = `  n  to the next place        c  continue to the next breakpoint, or to the end
  b [PLACE]  the breakpoints; sets one, or takes it away: step:3, tool:ADDRESS, failed, has:TEXT
  m [N]  the conversation, or its message N    t  the tools that the model sees
  p  all about this place: the answer, the arguments, the result
  args {…}    before a call: make it with other arguments
  result {…}  before or after a call: this came of it
  retry [{…}] after an answer: ask the model again; after a call: make it again, with other arguments
  q  stop the run             h  this help; an empty line is n`;

/** Runs a command of somebody who looks at a stop. Never throws. */
export function runStopCommand(stop: DebugStop, words: string, view: StopView): StopAnswer {
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/su.exec(words) ?? [];
  switch (name) {
    case "n":
    case "s":
      return { action: { action: "step" } };
    case "c":
      return { action: { action: "continue" } };
    case "q":
      return { action: { action: "stop" } };
    case "args":
    case "result":
    case "retry":
      return change(stop, name, rest);
    default:
      return { text: name === "b" ? toggleBreakpoint(rest, view) : look(stop, name, rest, view) };
  }
}

function toggleBreakpoint(place: string, { breakpoints }: StopView): string {
  const found = breakpoints.findIndex((one) => one.place === place);
  const breakpoint = toBreakpoint(place);
  if (place !== "" && breakpoint === undefined)
    return `Cannot stop at ${toPrintableLine(place)}: expected ${breakpointForms}`;
  if (found !== -1) breakpoints.splice(found, 1);
  else if (breakpoint !== undefined) breakpoints.push(breakpoint);
  if (breakpoints.length === 0) return `There are no breakpoints; b PLACE sets one: ${breakpointForms}`;
  return `c stops at ${breakpoints.map((one) => toPrintableLine(one.place)).join(", ")}`;
}

function look(stop: DebugStop, name: string, rest: string, { columns }: Pick<StopView, "columns">): string {
  switch (name) {
    case "m": {
      const message = rest === "" ? undefined : stop.messages[Number(rest) - 1];
      if (rest === "") return renderMessages(stop.messages, columns);
      return message === undefined ? `There are messages from 1 to ${stop.messages.length}` : renderMessage(message);
    }
    case "t":
      return stop.tools.length === 0 ? "It sees no tools" : toPrintable(stop.tools.join("\n"));
    case "p":
      return toPrintable(JSON.stringify(stop.outcome ?? stop.call ?? stop.answer ?? { step: stop.step }, null, 2));
    case "h":
      return help;
    default:
      return `There is no command ${toPrintableLine(name)}; h lists them`;
  }
}

const places: Readonly<Record<string, readonly DebugStop["where"][]>> = {
  args: ["call"],
  result: ["call", "outcome"],
  retry: ["answer", "outcome"],
};

function change({ where }: DebugStop, name: "args" | "result" | "retry", text: string): StopAnswer {
  if (places[name]?.includes(where) !== true) return { text: `${name} can be used ${whereTo[name]}` };
  if (name === "retry" && (text === "" || where === "answer")) return { action: { action: "retry" } };
  const value = parse(text);
  if (value === undefined) return { text: `Expected ${name} and JSON, as in ${name} {"file": "a.csv"}` };
  if (name === "args") return { action: { action: "step", input: value } };
  if (name === "retry") return { action: { action: "retry", input: value } };
  return { action: { action: "step", outcome: { status: "ok", output: value } } };
}

const whereTo = {
  args: "before a call",
  result: "before and after a call",
  retry: "after an answer, and after a call",
};

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
