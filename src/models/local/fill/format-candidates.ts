import { wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import type { Parameter } from "./parameter.ts";

/** What people call files of a kind, and how their names end. */
const endings = new Map<string, string>();
for (const group of [
  "py python",
  "js javascript",
  "ts typescript",
  "md markdown",
  "sh shell bash",
  "rb ruby",
  "rs rust",
  "go golang",
  "java",
  "c",
  "cpp c++",
  "cs c#",
  "php",
  "html",
  "css",
  "json",
  "csv",
  "xml",
  "yaml",
  "toml",
  "txt",
  "log",
  "pdf",
  "png",
  "jpg jpeg",
  "gif",
  "svg",
  "mp3",
  "mp4",
]) {
  const [ending = "", ...names] = group.split(" ");
  for (const name of [ending, ...names]) endings.set(name, ending);
}

/** "all python files", "which PNGs": for what takes endings (`py`) or patterns (`*.py`). */
export function formatCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  const takesEndings = /^(?:ext|extension|extensions|suffix)$/u.test(parameter.words.at(-1) ?? "");
  const shown = [...parameter.samples, ...(parameter.item?.samples ?? [])];
  const takesPatterns = shown.some((sample) => /^\*\.\w+$/u.test(sample));
  if ((!takesEndings && !takesPatterns) || parameter.choices.length > 0) return [];
  return tokens.flatMap(({ kind, word }, at) => {
    const isPlural = /^(?:png|jpg|jpeg|gif|svg|pdf|csv|mp3|mp4)s$/u.test(word);
    const ending = kind === "word" ? endings.get(isPlural ? word.slice(0, -1) : word) : undefined;
    const isNoun = /^(?:files?|scripts?|sources?|code|images?|pictures?|documents?)$/u.test(wordAt(tokens, at + 1));
    if (ending === undefined || (!isPlural && !isNoun)) return [];
    const text = takesEndings ? ending : `*.${ending}`;
    const value = parameter.type === "array" ? [text] : text;
    return [{ parameter, value, from: at, to: at + 1, cueFrom: at, cueTo: at + (isNoun ? 2 : 1), score: 57 }];
  });
}
