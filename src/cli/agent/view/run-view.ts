import type { AgentEvent, ToolEnd, ToolStart } from "../../../agent/events.ts";
import { createMutex } from "../../../core/async.ts";
import type { Progress } from "../../../core/events.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { cutToWidth, showBytes, showDuration, textWidth } from "../../render.ts";
import type { Terminal } from "../../terminal.ts";
import { type AnswerWriter, createAnswerWriter } from "./answer-writer.ts";
import { createMarkdownWriter } from "./markdown-writer.ts";
import { createChildView, type ShownCalls } from "./child-view.ts";
import { showInput, showOutcome, createStatusLine, type StatusLine } from "./lines.ts";

/** What a person sees of a run while it goes on: the answer on standard output, all else on standard error. */
export interface RunView {
  onEvent(event: AgentEvent): void;
  /** Leaves the screen to one question for the person at a time. What happens meanwhile is shown after it. */
  leave<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Ends the line that is open. */
  end(): void;
}

/** How a run is shown. */
export interface RunViewOptions {
  /** Whether the model's text is shown as it comes. @default true */
  readonly showsText?: boolean;
}

/** Makes the view of one run. */
export function createRunView(terminal: Terminal, { showsText = true }: RunViewOptions = {}): RunView {
  const screen = createScreen(terminal);
  const work = createWork(screen, terminal);
  const handlers = createHandlers(screen, work, { terminal, showsText });
  const show = (event: AgentEvent): void =>
    (handlers[event.type] as ((event: AgentEvent) => void) | undefined)?.(event);
  const oneAtATime = createMutex();
  const held: AgentEvent[] = [];
  let isLeft = false;

  function clear(): void {
    screen.status.show(undefined);
    screen.endLines();
  }

  function comeBack(): void {
    isLeft = false;
    for (const event of held.splice(0)) show(event);
  }

  return {
    onEvent: (event) => (isLeft ? void held.push(event) : show(event)),
    leave: (ask) =>
      oneAtATime(async () => {
        clear();
        isLeft = true;
        try {
          return await ask();
        } finally {
          comeBack();
          work.show();
        }
      }),
    end() {
      comeBack();
      clear();
    },
  };
}

/** The parts of the screen that a run is shown on. */
interface Screen {
  readonly status: StatusLine;
  readonly text: AnswerWriter;
  readonly thoughts: AnswerWriter;
  endLines(): void;
  /** A line of its own. */
  line(words: string): void;
  /** A line of its own, for what is less important. */
  dim(words: string): void;
}

function createScreen(terminal: Terminal): Screen {
  const { columns, toShown, style } = terminal;
  const print = (piece: string): void => terminal.print(piece);
  // Without colours, marks say more than what they would be shown as.
  const text =
    columns !== undefined && terminal.hasColour
      ? createMarkdownWriter({ print, toShown, style, columns })
      : createAnswerWriter({ print, toShown, columns });
  const thoughts = createAnswerWriter({
    print: (piece) => terminal.note(style("dim", piece)),
    toShown: toPrintable,
    columns,
  });
  const endLines = (): void => {
    text.endLine();
    thoughts.endLine();
  };
  const line = (words: string): void => {
    endLines();
    terminal.note(`${words}\n`);
  };
  const dim = (words: string): void => line(terminal.style("dim", toPrintableLine(words)));
  return { status: createStatusLine(terminal), text, thoughts, endLines, line, dim };
}

/** A call that is going on. */
interface Running {
  start: ToolStart;
  readonly since: number;
  note: string;
  /** How many lines it has logged. */
  logged: number;
}

/** More than this of what one call logs is not read while it runs. */
const maxLogged = 20;

/** The calls that are going on, as the line at the bottom tells of them. */
interface Work extends ShownCalls {
  show(): void;
}

function createWork({ status, line, dim }: Screen, terminal: Terminal): Work {
  const running = new Map<string, Running>();

  /** The one that said last how far it is. */
  let lastHeard: Running | undefined;

  function show(): void {
    const [first] = running.values();
    if (first === undefined) return status.show(undefined);
    status.show(() => {
      const { start, note, since } = lastHeard ?? first;
      const more = running.size === 1 ? "" : ` (and ${running.size - 1} more)`;
      const words = [nameCall(start), note].filter((part) => part !== "").join("  ");
      return `${words}${more}  ${showSince(since)}`;
    });
  }

  function showLog(call: Running | undefined, message: string): void {
    const logged = call === undefined ? 0 : (call.logged += 1);
    if (logged <= maxLogged) for (const text of message.trimEnd().split("\n").slice(0, maxLogged)) dim(`│ ${text}`);
    if (logged === maxLogged + 1) dim("│ … it logs on");
  }

  return {
    show,
    start(event) {
      running.set(event.id, { start: event, since: performance.now(), note: "", logged: 0 });
      show();
    },
    change({ id, input }) {
      const call = running.get(id);
      if (call !== undefined) call.start = { ...call.start, input };
    },
    onEvent(id, event) {
      const call = running.get(id);
      if (event.type === "call-progress" && call !== undefined) {
        call.note = showProgress(event.progress);
        lastHeard = call;
      }
      if (event.type === "call-log") showLog(call, event.message);
      if (event.type === "call-retry") dim(`│ it failed, and is tried again: attempt ${event.attempt}`);
    },
    end(event, depth = 0) {
      const call = running.get(event.id);
      line(`${"  ".repeat(depth)}${renderCall(call?.start, event, terminal)}`);
      if (lastHeard === call) lastHeard = undefined;
      running.delete(event.id);
      show();
    },
  };
}

function showSince(since: number): string {
  return showDuration(Math.round((performance.now() - since) / 100) * 100);
}

type Handlers = { readonly [Type in AgentEvent["type"]]?: (event: Extract<AgentEvent, { type: Type }>) => void };

/** What is shown until an answer is there, and the answer. */
function createAnswerHandlers(
  { status, text, thoughts, endLines }: Screen,
  { terminal, showsText }: { readonly terminal: Terminal; readonly showsText: boolean },
): Handlers {
  return {
    "step-start"() {
      text.endLine();
      const askedAt = performance.now();
      status.show(() => `thinking  ${showSince(askedAt)}`);
    },
    "model-loading"({ model, sizeBytes, elapsedMs }) {
      const size = sizeBytes === undefined ? "" : ` (${showBytes(sizeBytes)})`;
      status.show(() => `loading ${toPrintableLine(model)}${size}  ${showDuration(elapsedMs)}`);
    },
    "text-delta"(event) {
      status.show(undefined);
      thoughts.endLine();
      if (showsText) text.write(event.text);
    },
    "reasoning-delta"(event) {
      status.show(undefined);
      if (terminal.isWatched) thoughts.write(event.text);
    },
    "tool-input-delta"({ tool }) {
      if (!terminal.isWatched) return;
      endLines();
      status.show(() => `writing a call of ${toPrintableLine(tool)}`);
    },
  };
}

function createHandlers(
  screen: Screen,
  work: Work,
  { terminal, showsText }: { readonly terminal: Terminal; readonly showsText: boolean },
): Handlers {
  const { status, endLines, dim } = screen;
  const showChild = createChildView(work);
  // The same is said with each step of a run.
  const told = new Set<string>();
  return {
    ...createAnswerHandlers(screen, { terminal, showsText }),
    "model-answer"({ model, warnings = [] }) {
      status.show(undefined);
      endLines();
      for (const warning of warnings) {
        if (!told.has(warning)) dim(`${model}: ${warning}`);
        told.add(warning);
      }
    },
    "model-retry": ({ error }) => dim(`The model did not answer and is asked again: ${error.message}`),
    "tool-start": (event) => work.start(event),
    "call-changed": (event) => work.change(event),
    "call-event": ({ id, event }) => work.onEvent(id, event),
    "tool-end": (event) => work.end(event),
    "child-event": ({ event }) => showChild(event),
    "agent-changed": ({ tool, model }) => dim(`${tool}: ${model} goes on with the conversation`),
    "message-added"({ reason, message }) {
      if (reason !== "steering") dim(`Told the model: ${messageText(message)}`);
    },
    "memory-compacted"({ tokensBefore, tokensAfter, error }) {
      dim(`The conversation was shortened from ${tokensBefore} to ${tokensAfter} tokens`);
      if (error !== undefined) dim(`No model made a summary of it: ${error.message}`);
    },
  };
}

function messageText({ content }: Extract<AgentEvent, { type: "message-added" }>["message"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

function showProgress({ message = "", done, total }: Progress): string {
  const count = done === undefined ? "" : total === undefined ? String(done) : `${done}/${total}`;
  return toPrintableLine([count, message].filter((part) => part !== "").join(" "));
}

const skillWords: Readonly<Record<string, string>> = {
  activate_skill: "open the skill",
  deactivate_skill: "close the skill",
};

/** Tells whether a call only opens or closes a skill: what comes of it is for the model alone. */
export function isSkillCall(tool: string): boolean {
  return Object.hasOwn(skillWords, tool);
}

/** What is called, in a few words. */
export function nameCall({ tool, input }: Pick<ToolStart, "tool" | "input">): string {
  const words = isSkillCall(tool) ? skillWords[tool] : undefined;
  const { name } = (input ?? {}) as { readonly name?: unknown };
  if (words !== undefined && typeof name === "string") return `${words} ${toPrintableLine(name)}`;
  return `${toPrintableLine(tool)} ${showInput(input)}`.trimEnd();
}

/** A call that has ended, on one line: the call, its outcome and its duration. */
function renderCall(
  start: ToolStart | undefined,
  { tool, outcome, durationMs, recalled }: ToolEnd,
  terminal: Terminal,
): string {
  const isOk = outcome.status === "ok";
  const mark = isOk ? terminal.style("green", "✓") : terminal.style("red", "✗");
  const time = recalled === true ? "from the journal" : showDuration(durationMs);
  const room = Math.max(20, (terminal.columns ?? 120) - time.length - 7);
  const result = isOk && isSkillCall(tool) ? "" : showOutcome(outcome);
  const words = nameCall(start ?? { tool, input: {} });
  const name = cutToWidth(words, Math.max(Math.floor(room * 0.6), room - textWidth(result)));
  const arrow =
    result === ""
      ? ""
      : ` ${terminal.style(isOk ? "dim" : "red", `→ ${cutToWidth(result, Math.max(8, room - textWidth(name)))}`)}`;
  return `${mark} ${name}${arrow}  ${terminal.style("dim", time)}`;
}
