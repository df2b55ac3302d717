import { type DebugAction, type DebugStop, createDebugger, isAt } from "../../../agent/debug/create-debugger.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { ModelMessage } from "../../../models/model.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { cutToWidth, plural } from "../../render.ts";
import type { Terminal } from "../../terminal.ts";
import { nameCall, type RunView } from "../view/run-view.ts";
import { showInput, showValue, showOutcome } from "../view/lines.ts";
import { type CommandLines, openCommandLines } from "../../debug/lines.ts";
import { breakpointForms, toBreakpoint, type WrittenBreakpoint } from "./parse-breakpoints.ts";
import type { AgentHooks } from "../../../agent/hooks.ts";

const prompt = "(debug) ";

/** Where stops are shown, and where a run is to stop. */
export interface StopScreen {
  readonly terminal: Pick<Terminal, "note" | "style" | "columns">;
  readonly breakpoints: WrittenBreakpoint[];
}

/** Shows where a run has stopped, and asks what to do until it is something that makes it go on. */
export async function askAtStop(
  stop: DebugStop,
  lines: CommandLines,
  { terminal, breakpoints }: StopScreen,
): Promise<DebugAction> {
  const { columns } = terminal;
  terminal.note(
    `${terminal.style("cyan", `▸ ${renderStop(stop, columns === undefined ? undefined : columns - 2)}`)}\n`,
  );
  for (;;) {
    const line = await lines.next(prompt);
    const words = line === undefined ? "q" : line.trim() === "" ? "n" : line;
    const answer = runStopCommand(stop, words, { columns, breakpoints });
    if ("action" in answer) return answer.action;
    terminal.note(`${answer.text}\n`);
  }
}

/** What a command is: something to do, or something to read. */
type StopAnswer = { readonly action: DebugAction } | { readonly text: string };

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

/** Runs a debugging command at a stop. Never throws. */
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

/** How wide lines are without a screen: `p` and `m N` show all of it. */
const pipeColumns = 160;

/** Says where a run has stopped, and what is to be seen there first. */
function renderStop(stop: DebugStop, columns: number | undefined): string {
  return cutToWidth(describeStop(stop), columns ?? pipeColumns);
}

function describeStop({ where, step, messages, tools, answer, call, outcome }: DebugStop): string {
  switch (where) {
    case "model":
      return `Step ${step}, before the model is asked: ${plural(messages.length, "message")}, ${plural(tools.length, "tool")}`;
    case "answer": {
      const parts = (answer?.content ?? []).map((part) => {
        if (part.type === "text") return toPrintableLine(part.text);
        return part.type === "tool-call"
          ? `a call of ${toPrintableLine(part.toolName)} ${toPrintableLine(part.input)}`
          : "";
      });
      return `Step ${step}, the model has answered: ${parts.filter((part) => part !== "").join("; ")}`;
    }
    case "call":
      return `Step ${step}, before the call: ${call === undefined ? "" : nameCall(call)}`;
    case "outcome": {
      const name = call === undefined ? "" : toPrintableLine(call.tool);
      return `Step ${step}, after the call of ${name}: ${outcome === undefined ? "" : showOutcome(outcome)}`;
    }
  }
}

/** The conversation, a line for each part; `m N` shows whole texts. */
function renderMessages(messages: readonly ModelMessage[], columns: number | undefined): string {
  const lines = messages.flatMap((message, index) =>
    toLines(message).map((line) => `${String(index + 1).padStart(3)} ${message.role.padEnd(9)} ${line}`),
  );
  return lines.map((line) => cutToWidth(line, columns ?? pipeColumns)).join("\n");
}

/** One message, as it is. */
function renderMessage(message: ModelMessage): string {
  return toPrintable(typeof message.content === "string" ? message.content : JSON.stringify(message.content, null, 2));
}

function toLines({ content }: ModelMessage): string[] {
  if (typeof content === "string") return [toPrintableLine(content)];
  return content.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return toPrintableLine(part.text);
    if (part.type === "tool-call")
      return toPrintableLine(`calls ${part.toolName} ${showInput((part.input ?? null) as never)}`);
    if (part.type === "tool-result") return toPrintableLine(`${part.toolName} → ${showValue(part.output as never)}`);
    return `(${toPrintableLine(part.type)})`;
  });
}

/** A person who goes through runs while they happen. */
export interface LiveDebugging {
  /** The hooks for one run. */
  hooks(stop: () => void, view: RunView | undefined): AgentHooks;
  close(): void;
}

/** Debugs runs at the terminal, or by commands from standard input. */
export function openLiveDebugging(
  { terminal }: { readonly terminal: Terminal },
  given: readonly WrittenBreakpoint[],
): LiveDebugging {
  const breakpoints = [...given];
  const lines = openCommandLines(terminal);
  return {
    hooks: (stop, view) =>
      createDebugger({
        // Those that are set on the way count, too.
        breakpoints: [{ when: (place) => breakpoints.some((one) => isAt(one, place)) }],
        stopAtStart: breakpoints.length === 0,
        stop,
        onStop(place) {
          const ask = async (): ReturnType<typeof askAtStop> => askAtStop(place, lines, { terminal, breakpoints });
          return view === undefined ? ask() : view.leave(ask);
        },
      }),
    close: () => lines.close(),
  };
}
