import type { JsonValue } from "../../core/json.ts";
import type { ModelContent, ModelMessage } from "../../models/model.ts";
import { describeChange, readNativeChange } from "../../models/tool-changes.ts";

/** Writes messages as readable lines: who says what, which tools are called, with which outcomes. The lines have no ids. */
export function renderMessages(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap(renderMessage);
}

function renderMessage(message: ModelMessage): readonly string[] {
  const { role, content } = message;
  const change = readNativeChange(message);
  if (change !== undefined) return renderText(role, describeChange(change));
  if (typeof content === "string") return renderText(role, content);
  return content.flatMap((part) => renderPart(role, part));
}

/** Anything that a message or an answer holds. Packages add types of parts: an unknown type is named. */
type Part = Exclude<ModelMessage["content"], string>[number] | ModelContent;

/** Writes one part of a message, or of an answer. */
export function renderPart(role: string, part: Part): readonly string[] {
  switch (part.type) {
    case "text":
      return renderText(role, part.text);
    case "reasoning":
      return renderText(`${role} thinks`, part.text);
    case "file":
    case "reasoning-file":
      return [`${role}: [${part.mediaType}]`];
    case "tool-call":
      return [`  -> ${part.toolName} ${renderInput(part.input)}`];
    case "tool-result":
      return renderResult(part.toolName, "output" in part ? part.output : { type: "json", value: part.result });
    case "custom":
    case "source":
    case "tool-approval-request":
    case "tool-approval-response":
    default:
      return [`${role}: [${(part as { readonly type: string }).type}]`];
  }
}

/** Lines behind the first are indented, so that they are not taken for lines of another message. */
export function renderText(who: string, text: string): readonly string[] {
  const [first = "", ...rest] = text.split("\n");
  return [`${who}: ${first}`.trimEnd(), ...rest.map((line) => `  | ${line}`.trimEnd())];
}

/** The input of a call: text is what the model wrote, and may not be JSON. */
function renderInput(input: unknown): string {
  if (typeof input !== "string") return toLine(input);
  try {
    return toLine(JSON.parse(input === "" ? "{}" : input));
  } catch {
    return input.replaceAll("\n", "\\n");
  }
}

interface Output {
  readonly type: string;
  readonly value?: unknown;
  readonly reason?: string | undefined;
}

function renderResult(tool: string, { type, value, reason }: Output): readonly string[] {
  const kind = type === "json" || type === "text" ? "" : `(${type}) `;
  const shown = type === "execution-denied" ? (reason ?? "") : value;
  const text = typeof shown === "string" ? shown : toLine(type === "content" ? namesOf(shown) : shown);
  return renderText(`  <- ${tool}`, `${kind}${text}`).map((line) => line.replace(/^( {2}<- [^:]*):/u, "$1"));
}

/** Of content that is not text, only what it is. */
function namesOf(value: unknown): JsonValue {
  return (value as readonly { readonly type: string; readonly text?: string }[]).map(
    ({ type, text }) => text ?? `[${type}]`,
  );
}

function toLine(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
