import type { FinishReason, ModelContent, ModelPart, ModelUsage } from "../../model.ts";

/** An answer that is known whole. */
export interface WholeAnswer {
  readonly content: readonly ModelContent[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
}

/** The parts of an answer as other models send them: text word by word, the input of a call in pieces. */
export function* toParts({ content, finishReason, usage }: WholeAnswer): Generator<ModelPart> {
  yield { type: "stream-start", warnings: [] };
  for (const [index, part] of content.entries()) {
    if (part.type === "text") yield* textParts(String(index), part.text);
    else if (part.type === "tool-call") {
      yield { type: "tool-input-start", id: part.toolCallId, toolName: part.toolName };
      for (const delta of piecesOf(part.input)) yield { type: "tool-input-delta", id: part.toolCallId, delta };
      yield { type: "tool-input-end", id: part.toolCallId };
      yield part;
    }
  }
  yield { type: "finish", finishReason, usage };
}

function* textParts(id: string, text: string): Generator<ModelPart> {
  yield { type: "text-start", id };
  for (const [delta] of text.matchAll(/\s*\S{1,64}\s*?(?=\s|\S)|\s+$|\s*\S+$/gu))
    yield { type: "text-delta", id, delta };
  yield { type: "text-end", id };
}

function* piecesOf(input: string): Generator<string> {
  for (let at = 0; at < input.length; at += 32) yield input.slice(at, at + 32);
}
