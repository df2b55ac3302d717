import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import { createTextIndex } from "../../core/text-search.ts";
import { checkOptionNames } from "../check-option-names.ts";
import { familyOf } from "../providers.ts";
import { countText } from "../tokens/count-text.ts";
import type { CountingModel } from "../tokens/estimate-tokens.ts";
import { toLines } from "./to-lines.ts";

/** How {@link compressText} chooses. */
export interface CompressOptions {
  /** The most tokens that are left, as they are estimated. */
  readonly maxTokens: number;
  /** What the text is read for: a question, a task. What it asks about is kept first. @default what stands out in the text */
  readonly query?: string;
  /** The model that reads it: models count differently. */
  readonly model?: CountingModel;
}

/** A text that was made shorter. */
export interface CompressedText {
  readonly text: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** How many of its lines, sentences or records are left, of how many. */
  readonly kept: number;
  readonly of: number;
}

/**
 * Makes a text shorter by leaving out lines, sentences and records of JSON: what is left stands there word for word, in order, and a
 * note says how much is missing. No model is asked, and the same text always gives the same.
 *
 * Contract: takes time in proportion to the text. Something is lost: what the query does not ask about may be gone.
 *
 * @example
 * ```ts
 * import { compressText } from "kitbag/models";
 *
 * const log = Array.from({ length: 500 }, (_, hour) => `${hour}: all is well`).join("\n");
 * const { text, tokensAfter } = compressText(`${log}\nthe disk of server 7 is full`, { maxTokens: 200, query: "Is a disk full?" });
 *
 * console.assert(tokensAfter <= 200 && text.includes("the disk of server 7 is full"));
 * ```
 *
 * @throws {KitbagError} `option-invalid`
 */
export function compressText(text: string, options: CompressOptions): CompressedText {
  checkOptionNames(options, ["maxTokens", "query", "model"]);
  const { maxTokens, query = "", model = { provider: "", modelId: "" } } = options;
  if (typeof maxTokens !== "number" || !(maxTokens >= leastTokens)) {
    const expected = `a number of tokens, at least ${leastTokens}`;
    throw new KitbagError("option-invalid", { option: "maxTokens", found: showValue(maxTokens), expected });
  }
  const key = familyOf(model) === "claude" ? "claude" : "usual";
  const count = (part: string): number => countText(part)[key];
  const tokensBefore = count(text);
  if (tokensBefore <= maxTokens) return { text, tokensBefore, tokensAfter: tokensBefore, kept: 1, of: 1 };
  const lines = toLines(text);
  const chosen = choose(lines, scoreLines(lines, query), maxTokens - noteTokens, count);
  const made = write(lines, chosen);
  return { text: made, tokensBefore, tokensAfter: count(made), kept: chosen.size, of: lines.length };
}

const leastTokens = 64;
/** For the note at the beginning. */
const noteTokens = 28;
/** For the mark of each place where something is missing. */
const gapTokens = 2;

/** Takes the best lines that fit; a long one must be better than the short ones in its place. */
function choose(
  lines: readonly string[],
  scores: readonly number[],
  maxTokens: number,
  count: (text: string) => number,
): ReadonlySet<number> {
  const costs = lines.map((line) => count(line) + 1);
  const worth = (index: number): number => (scores[index] ?? 0) / Math.sqrt((costs[index] ?? 1) + 8);
  const order = lines.map((_, index) => index).toSorted((left, right) => worth(right) - worth(left) || left - right);
  const chosen = new Set<number>();
  const said = new Set<string>();
  let left = maxTokens;
  for (const index of order) {
    const line = (lines[index] ?? "").trim();
    if (said.has(line)) continue;
    // Next to one that is kept there is no gap to mark.
    const gap = chosen.has(index - 1) || chosen.has(index + 1) ? 0 : gapTokens;
    const cost = (costs[index] ?? 0) + gap;
    if (cost > left) continue;
    chosen.add(index);
    said.add(line);
    left -= cost;
  }
  return chosen;
}

function write(lines: readonly string[], chosen: ReadonlySet<number>): string {
  const note = `[${chosen.size} of ${lines.length} lines are shown, word for word; … is where others are left out]`;
  const shown: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (chosen.has(index)) shown.push(line);
    else if (shown.at(-1) !== "…") shown.push("…");
  }
  return [note, ...shown].join("\n");
}

/** What a line has that a reader would miss: numbers, names, rules, failures. */
const telling: readonly (readonly [pattern: RegExp, points: number])[] = [
  [/\b(?:error|fail(?:ed|ure)?|fatal|exception|denied|refused|missing|warn(?:ing)?|timeout|cannot)\b/iu, 1.5],
  [/\b(?:must|never|always|only|required|default|limit|maximum|minimum|total|because|instead)\b/iu, 0.7],
  [/\d/u, 0.5],
  [/["'`“][^"'`”]{2,60}["'`”]/u, 0.3],
  [/(?<=\S\s)\p{Lu}\p{Ll}+/u, 0.3],
  [/^\s*#{1,6}\s/u, 0.6],
];
/** How much of the score is what the query asks about; a line next to such a line may say the rest of it. */
const queryShare = 4;
const neighbourShare = 0.35;
/** The first lines say what a text is, the last ones how it ended. */
const edge = 2;
const edgePoints = 0.8;

function scoreLines(lines: readonly string[], query: string): readonly number[] {
  const asked = scoreQuery(lines, query);
  const seen = new Map<string, number>();
  return lines.map((line, index) => {
    let score = telling.reduce((sum, [pattern, points]) => sum + (pattern.test(line) ? points : 0), 0.2);
    // Of lines that say the same with other numbers, the first are enough.
    const shape = line.replaceAll(/\d+/gu, "0").slice(0, 200);
    const times = seen.get(shape) ?? 0;
    seen.set(shape, times + 1);
    const near = Math.max(asked[index - 1] ?? 0, asked[index + 1] ?? 0) * neighbourShare;
    score /= 1 + times;
    if (index < edge || index >= lines.length - edge) score += edgePoints;
    return score + queryShare * Math.max(asked[index] ?? 0, near);
  });
}

/** How well each line fits the query, from 0 to 1. */
function scoreQuery(lines: readonly string[], query: string): readonly number[] {
  const scores = lines.map(() => 0);
  if (query.trim() === "") return scores;
  const index = createTextIndex(lines.map((line, place) => ({ id: String(place), texts: [[line, 1]] })));
  const hits = index.search(query.slice(0, 4000), lines.length);
  const best = hits[0]?.score ?? 1;
  for (const { id, score } of hits) scores[Number(id)] = score / best;
  return scores;
}
