import type { ModelTool } from "../../model.ts";
import type { Request } from "../text/read-request.ts";
import { toStem, toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { wordAt } from "../text/token.ts";
import { isChanging } from "./danger.ts";

const denied = /^(?:don['’]?t|never)$/u;
const notDenials = /^(?:forget|mind|worry|hesitate|you|we|i)$/u;

/** Where what is not to be done begins: behind each "don't", "do not" and "never". Whoever is not to forget something is to do it. */
function denialsOf({ tokens }: Request): number[] {
  return tokens.flatMap(({ word }, at) => {
    const isDenial = denied.test(word) || (word === "not" && wordAt(tokens, at - 1) === "do");
    return isDenial && !notDenials.test(wordAt(tokens, at + 1)) ? [at + 1] : [];
  });
}

/** The verbs of what a request says is not to be done, and others for them. */
export function forbiddenVerbs(request: Request): ReadonlySet<string> {
  const verbs = denialsOf(request).flatMap((at) => toStem(wordAt(request.tokens, at)));
  return new Set(verbs.flatMap((verb) => [verb, ...synonymsOf(verb)]));
}

/** Tells whether a tool does what is not to be done: "don't restart anything" keeps from what restarts things. */
export function isForbidden(tool: ModelTool, verbs: ReadonlySet<string>): boolean {
  if (verbs.size === 0 || !isChanging(tool)) return false;
  const [verb = ""] = toStems((tool.description ?? "").slice(0, 60));
  return verbs.has(verb) || toStems(tool.name).some((stem) => verbs.has(stem));
}

/** Tells whether somebody only exclaims ("what a lovely ship"). */
export function isExclaimed({ text }: Request): boolean {
  return /^\s*(?:what an?|wow|how (?:nice|lovely|cool|great|sad))\b[^?]*$/iu.test(text.slice(0, 300));
}

/** Tells whether a request only says what is not to be done: it begins with that, and nothing else follows. */
export function isDeclined(request: Request): boolean {
  const { tokens } = request;
  const [at] = denialsOf(request);
  const isFirst = tokens
    .slice(0, at)
    .every(({ word }) => /^(?:please|no|but|and|do|not|never|don['’]?t|,|)$/u.test(word));
  return (
    at !== undefined &&
    isFirst &&
    !tokens.slice(at).some(({ text, word }) => /^[,;]$/u.test(text) || /^(?:but|just)$/u.test(word))
  );
}
