import type { ModelMessage } from "../../models/model.ts";

/** A part of a message, as far as it is looked at: there may be others. */
export interface AnyPart {
  readonly type?: string;
  readonly text?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type?: string; readonly value?: unknown; readonly reason?: unknown };
  readonly mediaType?: string;
  readonly providerExecuted?: boolean;
}

/** The parts of a message; none if it has none that can be read. */
export function partsOf({ content }: Pick<ModelMessage, "content">): readonly AnyPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isPart) : [];
}

function isPart(part: unknown): part is AnyPart {
  return typeof part === "object" && part !== null;
}

/** What a message says, without calls, results, reasoning and files. */
export function textOfMessage(message: Pick<ModelMessage, "content">): string {
  return partsOf(message)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" && text !== "" ? [text] : []))
    .join("\n");
}

/** What came of a call, as text. */
export function textOfResult({ output }: AnyPart): string {
  const { type, value, reason } = output ?? {};
  if (typeof value === "string") return value;
  if (type === "content" && Array.isArray(value)) return textOfMessage({ content: value as never });
  if (value === undefined) return typeof reason === "string" ? reason : "";
  return toJsonText(value);
}

/** A value as JSON; nothing if it has none. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
