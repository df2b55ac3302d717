import type { ModelMessage } from "../../models/model.ts";
import { cutText } from "./cut-text.ts";
import { withMark } from "./kitbag-mark.ts";
import { partsOf, textOfResult, toJsonText, type AnyPart } from "./message-text.ts";
import type { TokenCounter } from "./token-counter.ts";

/** No part is cut to less than this. */
const leastPart = 8;

/** Cuts the longest parts of messages until all are within so many tokens; `undefined` if that cannot be. */
export function cutMessages(
  messages: readonly ModelMessage[],
  maxTokens: number,
  counter: TokenCounter,
): readonly ModelMessage[] | undefined {
  for (let most = maxTokens; most >= leastPart; most = Math.floor(most * 0.8)) {
    const made = messages.map((message) => cutParts(message, most, counter));
    if (counter.messages(made) <= maxTokens) return made;
  }
  return undefined;
}

/** A message in which no part has more than so many tokens: the same one if nothing had, and else one that says that it was cut. */
function cutParts(message: ModelMessage, most: number, counter: TokenCounter): ModelMessage {
  if (typeof message.content === "string") {
    return { ...message, content: cutText(message.content, most, counter.text) } as ModelMessage;
  }
  const parts = partsOf(message);
  const content = parts.flatMap((part) => cutPart(part, most, counter));
  const isWhole = content.length === parts.length && content.every((part, index) => part === parts[index]);
  return isWhole ? message : withMark({ ...message, content } as unknown as ModelMessage, { cut: true });
}

function cutPart(part: AnyPart, most: number, counter: TokenCounter): readonly AnyPart[] {
  const { text } = counter;
  switch (part.type) {
    case "text": {
      const left = cutText(String(part.text), most, text);
      return [left === part.text ? part : { ...part, text: left }];
    }
    case "reasoning":
      // It is signed: half of it is worth nothing.
      return text(String(part.text)) <= most ? [part] : [];
    case "tool-call": {
      const input = toJsonText(part.input);
      return text(input) <= most ? [part] : [{ ...part, input: { cut: cutText(input, most, text) } }];
    }
    case "tool-result": {
      const output = cutOutput(part, most, counter);
      return [output === part.output ? part : { ...part, output }];
    }
    case "file":
    case "reasoning-file": {
      const note = { type: "text", text: `[A file (${String(part.mediaType)}) is left out here]` };
      return counter.messages([{ role: "user", content: [part] } as unknown as ModelMessage]) <= most ? [part] : [note];
    }
    case undefined:
    default:
      return text(toJsonText(part)) <= most ? [part] : [];
  }
}

function cutOutput(part: AnyPart, most: number, { text: count }: TokenCounter): NonNullable<AnyPart["output"]> {
  const { output = {} } = part;
  const { type = "", value } = output;
  const isError = type.startsWith("error");
  if (type === "execution-denied") return { type, reason: cutText(textOfResult(part), most, count) };
  if (count(typeof value === "string" ? value : toJsonText(value)) <= most) return output;
  const note = type === "content" ? "\n[Files are left out here]" : "";
  return { type: isError ? "error-text" : "text", value: cutText(`${textOfResult(part)}${note}`, most, count) };
}
