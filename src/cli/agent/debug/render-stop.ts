import type { DebugStop } from "../../../agent/debug/create-debugger.ts";
import type { ModelMessage } from "../../../models/model.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { cutText } from "../../render-table.ts";
import { nameCall } from "../view/run-view.ts";
import { showInput, showValue } from "../view/show-input.ts";
import { showOutcome } from "../view/show-outcome.ts";

/** How wide lines are that nobody watches: `p` and `m N` show all of it. */
const pipeColumns = 160;

/** Says where a run has stopped, and what is to be seen there first. */
export function renderStop(stop: DebugStop, columns: number | undefined): string {
  return cutText(describeStop(stop), columns ?? pipeColumns);
}

function describeStop({ where, step, messages, tools, answer, call, outcome }: DebugStop): string {
  switch (where) {
    case "model":
      return `Step ${step}, before the model is asked: ${count(messages.length, "message")}, ${count(tools.length, "tool")}`;
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

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The conversation, a line for each part; whole texts if somebody wants to read them. */
export function renderMessages(messages: readonly ModelMessage[], columns: number | undefined): string {
  const lines = messages.flatMap((message, index) =>
    toLines(message).map((line) => `${String(index + 1).padStart(3)} ${message.role.padEnd(9)} ${line}`),
  );
  return lines.map((line) => cutText(line, columns ?? pipeColumns)).join("\n");
}

/** One message, as it is. */
export function renderMessage(message: ModelMessage): string {
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
