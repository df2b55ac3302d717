import type { ModelContent, ModelPart } from "../model.ts";

type Said = Extract<ModelContent, { type: "reasoning" | "text" }>;

/** How a text is streamed: word by word. A word that is very long comes in pieces. */
const words = /\S{1,64}\s*|\s+/gu;

/** The parts of a whole answer as models stream them: text word by word, the input of a call in pieces, then the call. */
export function* toParts(content: readonly ModelContent[]): Generator<ModelPart> {
  for (const [place, part] of content.entries()) {
    if (part.type === "text" || part.type === "reasoning") yield* toDeltas(part, String(place));
    else {
      if (part.type === "tool-call") yield* toInput(part);
      yield part;
    }
  }
}

function* toDeltas({ type, text, providerMetadata }: Said, id: string): Generator<ModelPart> {
  yield { type: `${type}-start`, id };
  for (const [delta] of text.matchAll(words)) yield { type: `${type}-delta`, id, delta };
  yield { type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) };
}

function* toInput({
  toolCallId: id,
  toolName,
  input,
}: Extract<ModelContent, { type: "tool-call" }>): Generator<ModelPart> {
  yield { type: "tool-input-start", id, toolName };
  for (const [delta] of input.matchAll(/[^]{1,32}/gu)) yield { type: "tool-input-delta", id, delta };
  yield { type: "tool-input-end", id };
}
