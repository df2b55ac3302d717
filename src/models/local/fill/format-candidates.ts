import { endingOf } from "../text/file-endings.ts";
import { wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";
import { takesEndings } from "./roles.ts";

/** "all python files", "which PNGs": for what takes endings (`py`) or patterns (`*.py`). */
export function formatCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const isEnding = takesEndings(parameter.words);
  const shown = [...parameter.samples, ...(parameter.item?.samples ?? [])];
  const takesPatterns = shown.some((sample) => /^\*\.\w+$/u.test(sample));
  if ((!isEnding && !takesPatterns) || parameter.choices.length > 0) return [];
  return tokens.flatMap(({ kind, word }, at) => {
    const isPlural = /^(?:png|jpg|jpeg|gif|svg|pdf|csv|mp3|mp4)s$/u.test(word);
    const ending = kind === "word" ? endingOf(isPlural ? word.slice(0, -1) : word) : undefined;
    const isNoun = /^(?:files?|scripts?|sources?|code|images?|pictures?|documents?)$/u.test(wordAt(tokens, at + 1));
    if (ending === undefined || (!isPlural && !isNoun)) return [];
    const text = isEnding ? ending : `*.${ending}`;
    const value = parameter.type === "array" ? [text] : text;
    return [{ parameter, value, from: at, to: at + 1, cueFrom: at, cueTo: at + (isNoun ? 2 : 1), score: 57 }];
  });
}
