import type { Request } from "./read-request.ts";
import { textAt, wordAt } from "./token.ts";

/** A message that somebody is to be given: where the words for who gets it, and those of the message, begin. */
export interface ToldMessage {
  readonly to: number;
  readonly text: number;
}

const polite = /^(?:please|can|could|would|you|kindly|now|and|then|also)$/u;

/** More words are no name. */
const longestName = 5;

/** Finds "tell Anna that …", "let the team know that …"; what somebody wants told themselves ("tell me …") is none. */
export function findTold({ tokens }: Pick<Request, "tokens">): ToldMessage | undefined {
  const at = tokens.findIndex(({ word }) => !polite.test(word));
  const verb = wordAt(tokens, at);
  const isLet = verb === "let";
  if (!isLet && !/^(?:tell|inform|notify|message|text|sms|email|mail|ping)$/u.test(verb)) return undefined;
  if (/^(?:me|us|you)$/u.test(wordAt(tokens, at + 1))) return undefined;
  for (let end = at + 2; end <= at + 1 + longestName; end++) {
    const isKnown = !isLet || wordAt(tokens, end - 1) === "know";
    const isStart = wordAt(tokens, end) === "that" || textAt(tokens, end) === ":";
    if (isStart && isKnown && end + 1 < tokens.length) return { to: at + 1, text: end + 1 };
  }
  return undefined;
}
