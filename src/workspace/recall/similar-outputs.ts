import { toContentKey } from "../../core/content-key.ts";
import { cosineOf, type Embedder, toUnitVector } from "../../core/embedder.ts";
import { isRecord, type JsonValue } from "../../core/json.ts";
import type { ToolCache } from "../../core/tool.ts";

/** A text by which an output is found, also if it is said in other words. */
export interface SimilarText {
  readonly text: string;
  /** The input with what the text says in the place of the text: equal for texts that could mean the same. */
  readonly input: JsonValue;
  readonly threshold: number;
}

/** How near two texts must be, unless the tool says so: 1 is the same. */
const usualThreshold = 0.8;
/** Longer texts are compared word for word only. */
const longestText = 4000;

/** The text of an input that may be said in other words; nothing if the tool names none, or the text says nothing. */
export function toSimilarText({ similar }: ToolCache, input: JsonValue): SimilarText | undefined {
  if (similar === undefined || !isRecord(input)) return undefined;
  const { parameter, threshold = usualThreshold } = similar;
  const text = input[parameter];
  if (typeof text !== "string" || text.length > longestText) return undefined;
  const key = toContentKey(text);
  return key === "" ? undefined : { text, input: { ...input, [parameter]: key }, threshold };
}

/** Whether a model finds two texts near enough. One that cannot be asked does not: then the tool runs. */
export async function isNear(
  embedder: Embedder,
  [one, other]: readonly [one: string, other: string],
  threshold: number,
): Promise<boolean> {
  try {
    const [left, right] = await embedder.embed([one, other]);
    return left !== undefined && right !== undefined && cosineOf(toUnitVector(left), toUnitVector(right)) >= threshold;
  } catch {
    return false;
  }
}
