import { parametersOf } from "../fill/parameter.ts";
import { isChanging } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { isValueToken } from "../text/token.ts";
import { isMeta, workOf, type Scene } from "./decision.ts";
import { fitTool, type Fit } from "./fit-tool.ts";

/** The last call with something new, or that it has no place for what is new. */
export interface FollowUp {
  readonly type: "call" | "placeless";
  readonly fit: Fit;
}

/**
 * Understands "and for b.csv?", "what about notes.md?" and "again": the last call of the conversation with what the request says
 * put in the place of what was there. None if the request is something of its own.
 */
export function findFollowUp(scene: Scene, request: Request, isWeak: boolean): FollowUp | undefined {
  const { exchange, conversation, tools } = scene;
  if (workOf(exchange).length > 0) return undefined;
  const last = conversation.exchanges
    .slice(0, -1)
    .flatMap(({ rounds }) => rounds.flat())
    .findLast(({ tool }) => !isMeta(tool));
  const tool = tools.find(({ name }) => name === last?.tool);
  if (last === undefined || tool === undefined) return undefined;
  const isRepeat =
    /^\s*(?:please\s+)?(?:(?:do (?:it|that|this) )?(?:once )?again|repeat(?: (?:it|that|this))?|same again|retry|try again)[\s.!?]*$/iu.test(
      request.text,
    );
  const isAddition =
    /^\s*(?:and|now|ok|okay|so)?[\s,]*(?:what about|how about|and|now|the same|same|do the same|also|for|with|in|but|instead|only|just|as|where|without|sorted|per|by|top)\b/iu.test(
      request.text,
    );
  if (!isRepeat && !isAddition) return undefined;
  const fit = fitTool(request, tool, 0, { calls: [], isChained: false });
  // "as markdown": if all of it is for the last call, it is for nothing else.
  const isWhole =
    request.tokens.every(({ stem }, at) => stem === "" || fit.filled.used.has(at)) && fit.filled.used.size > 0;
  if (!isRepeat && !isWeak && !isWhole) return undefined;
  const isOther = isOtherOne(request, fit);
  const said = Object.entries(fit.filled.input).filter(([name]) => isOther || !fit.filled.guessed.has(name));
  if (!isRepeat && said.length === 0) return isOnlyValues(request) ? { type: "placeless", fit } : undefined;
  const input = { ...last.input, ...Object.fromEntries(said) };
  return { type: "call", fit: { ...fit, filled: { ...fit.filled, input, missing: [], guessed: new Set() } } };
}

/** "and enthalpy?": a word or two for what takes one thing, and changes nothing. */
function isOtherOne({ tokens }: Request, { tool, filled }: Fit): boolean {
  const required = parametersOf(tool).filter(({ isRequired }) => isRequired);
  const isWords = tokens.length <= 6 && !tokens.some(isValueToken);
  return required.length === 1 && filled.guessed.size === 1 && isWords && !isChanging(tool);
}

/** "and tomorrow?": values and small words, and nothing that says what to do. */
function isOnlyValues({ tokens }: Request): boolean {
  return tokens.some(isValueToken) && tokens.every((token) => token.stem === "");
}
