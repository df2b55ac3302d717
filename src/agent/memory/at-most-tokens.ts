import type { ModelMessage } from "../../models/model.ts";
import type { CountingModel } from "../../models/tokens/estimate-tokens.ts";
import { partsOf } from "./message-text.ts";
import { countSaid } from "./token-counter.ts";

/** No character is estimated to have more tokens than this, as it is and as JSON, where it may be written as `\u0000`. */
const perCharacter = 2;
const perJsonCharacter = 6;
/** What a part, a value or a key costs at most beside its characters: quotes, brackets, commas, digits. */
const perPiece = 32;
/** Values inside of values are looked at to this depth. */
const deepest = 32;

/** At least as many tokens as a message is estimated to have. It is much faster to say than how many these are. */
export function atMostTokens(message: ModelMessage, model: CountingModel): number {
  let sum = perPiece;
  for (const { type, text, toolName, input, output } of partsOf(message)) {
    // Pictures and other files do not cost what their characters do.
    if (type === "file" || type === "reasoning-file" || output?.type === "content") {
      return countSaid(message, model);
    }
    sum += perPiece;
    if (typeof text === "string") sum += text.length * perCharacter;
    if (typeof toolName === "string") sum += toolName.length * perCharacter;
    if (input !== undefined) sum += atMostJson(input, 0);
    if (output !== undefined) sum += atMostJson(output, 0);
  }
  return sum;
}

function atMostJson(value: unknown, depth: number): number {
  if (typeof value === "string") return perPiece + value.length * perJsonCharacter;
  if (typeof value !== "object" || value === null) return perPiece;
  // Something that says itself what its JSON is, or is too deep to say.
  if (depth === deepest || "toJSON" in value) return Infinity;
  let sum = perPiece;
  if (Array.isArray(value)) {
    for (const item of value) sum += atMostJson(item, depth + 1);
    return sum;
  }
  for (const key in value) {
    sum += perPiece + key.length * perJsonCharacter + atMostJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return sum;
}
