import { cutHead } from "../cut-text.ts";
import { partsOf, textOfResult, toJsonText, type AnyPart } from "../message-text.ts";
import type { Unit } from "../to-units.ts";

/** So much is shown of one part. */
const mostText = 4000;

/** Writes a part of a conversation down as text, for a model that is to put it together. */
export function renderTranscript(units: readonly Unit[]): string {
  const lines = units.flatMap(({ messages }) =>
    messages.flatMap((message) => partsOf(message).flatMap((part) => renderPart(message.role, part))),
  );
  return lines.join("\n").toWellFormed();
}

function renderPart(role: string, part: AnyPart): readonly string[] {
  switch (part.type) {
    case "text":
      return [`${role}: ${cutHead(String(part.text), mostText)}`];
    case "tool-call":
      return [`call: ${String(part.toolName)}(${cutHead(toJsonText(part.input), mostText)})`];
    case "tool-result":
      return [`result of ${String(part.toolName)}: ${cutHead(textOfResult(part), mostText)}`];
    case "file":
      return [`${role}: [a file, ${String(part.mediaType)}]`];
    case undefined:
    default:
      return [];
  }
}
