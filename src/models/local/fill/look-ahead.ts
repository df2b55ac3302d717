import type { Request } from "../text/read-request.ts";
import type { Token } from "../text/token.ts";

/** What is done for a day that is still to come. */
const ahead =
  /\b(?:book|reserv|schedul|remind|plan|appoint|invit|rent|forecast|flights?\b|trains?\b|trips?\b|departure|upcoming|deadline|due\b|countdown|alarm|deliver|pick-?up|meeting)/iu;

/** The tokens of a request for a tool: "January 5", said in November, is the next one if the tool is about what is to come. */
export function lookAhead({ tokens, today }: Request, about: string): readonly Token[] {
  if (today === undefined || !ahead.test(about)) return tokens;
  return tokens.map((token) => {
    const isPast = token.isYearOpen === true && typeof token.value === "string" && token.value < today;
    return isPast ? { ...token, value: `${Number(today.slice(0, 4)) + 1}${String(token.value).slice(4)}` } : token;
  });
}
