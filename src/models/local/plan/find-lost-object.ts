import { parametersOf } from "../fill/parameter.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { isCommandVerb } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Fit } from "./fit-tool.ts";

const before = /^(?:please|can|could|would|you|kindly|now|also|then|and)$/u;
const small =
  /^(?:the|a|an|my|our|your|this|that|these|those|all|both|up|down|on|off|out|another|new|one|some|more|next)$/u;

/** What a verb is done to ("restart nginx …"), if a tool has no use for any of its words: it would be done to something else. */
export function findLostObject(request: Request, { tool, filled }: Fit): string | undefined {
  const { text, tokens } = request;
  const { toolStems } = toolWordsOf(tool);
  const { from, to } = findObject(request, toolStems);
  if (from === to || filled.recalled.size > 0 || filled.covered.has(from - 1)) return undefined;
  const named = new Set(parametersOf(tool).flatMap(({ stems }) => stems));
  const isKnown = ({ stem }: Token, index: number): boolean =>
    filled.covered.has(from + index) || toolStems.has(stem) || named.has(stem);
  return tokens.slice(from, to).some(isKnown) ? undefined : text.slice(tokens[from]?.start, tokens[to - 1]?.end);
}

/** The words behind the verb that a request begins with; none if it begins with something else. */
function findObject({ tokens }: Request, toolStems: ReadonlySet<string>): { from: number; to: number } {
  const verb = tokens.findIndex(({ word }) => !before.test(word));
  const stem = tokens[verb]?.stem ?? "";
  let from = verb + 1;
  // "vacuum the hall": a noun is a verb if an article is behind it.
  const isVerb = isCommandVerb(stem) || (toolStems.has(stem) && /^(?:the|my|our)$/u.test(wordAt(tokens, from)));
  if (stem === "" || !isVerb) return { from, to: from };
  while (small.test(wordAt(tokens, from))) from += 1;
  let to = from;
  while (tokens[to]?.kind === "word" && tokens[to]?.stem !== "") to += 1;
  return { from, to };
}
