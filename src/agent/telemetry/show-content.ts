import type { Attributes } from "@opentelemetry/api";

import type { JsonValue } from "../../core/json.ts";
import { defaultKinds, patternRedactor } from "../../core/redaction/pattern-redactor.ts";
import type { ModelCall, ModelContent } from "../../models/model.ts";
import { cutText } from "../../workspace/cut-text.ts";
import { conventions } from "../../workspace/telemetry/semantic-names.ts";

/** The longest text in a span, in characters. */
const longestText = 8000;

/** What a model is asked, for spans that may say it. */
export function showQuestion({ prompt }: ModelCall): Attributes {
  const system = prompt.flatMap((message) =>
    message.role === "system" ? [{ type: "text", content: message.content }] : [],
  );
  const others = prompt.flatMap((message) =>
    message.role === "system" ? [] : [{ role: message.role, parts: message.content.map(toPart) }],
  );
  return {
    ...(system.length > 0 && { [conventions.systemInstructions]: showJson(system) }),
    [conventions.inputMessages]: showJson(others),
  };
}

/** What it answers. */
export function showAnswer(content: readonly ModelContent[], finishReason: string): Attributes {
  const message = { role: "assistant", parts: content.map(toPart), finish_reason: finishReason };
  return { [conventions.outputMessages]: showJson([message]) };
}

/** A text without what looks like a secret or like personal data. */
export function showText(text: string): string {
  const clean = patternRedactor(defaultKinds).text(text);
  return clean.length > longestText ? `${cutText(clean, longestText)}…` : clean;
}

function showJson(value: JsonValue): string {
  // Taken out of the texts first, so that no escape hides what they are.
  return showText(JSON.stringify(patternRedactor(defaultKinds).value(value)));
}

interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly result?: unknown;
  readonly mediaType?: string;
}

/** A part as the conventions have it. Files are named by what they are: nobody wants their bytes in a span. */
function toPart(given: object): JsonValue {
  const part = given as AnyPart;
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text ?? "" };
    case "tool-call":
      return { type: "tool_call", id: part.toolCallId ?? "", name: part.toolName ?? "", arguments: toJson(part.input) };
    case "tool-result":
      return { type: "tool_call_response", id: part.toolCallId ?? "", response: toJson(part.output ?? part.result) };
    default:
      return { type: part.type, ...(part.mediaType !== undefined && { mime_type: part.mediaType }) };
  }
}

/** A value as JSON: bytes in it, and what has no JSON, are left out. */
function toJson(value: unknown): JsonValue {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => (inner instanceof Uint8Array ? "…" : inner));
    return text === undefined ? null : (JSON.parse(text) as JsonValue);
  } catch {
    return null;
  }
}
