import type { ModelTool } from "../../model.ts";
import { parametersOf } from "../fill/parameter.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { isValueToken, type Token, wordAt } from "../text/token.ts";

/** What nobody can look up or put away before somebody has made it up. */
const works = new Set(
  toStems(
    "poem poetry haiku limerick sonnet verse ode rhyme ballad rap lyric lyrics song story tale fable novel essay joke pun riddle anecdote " +
      "speech toast blog article slogan tagline screenplay monologue dialogue plot letter",
  ),
);

const polite = /^(?:please|can|could|would|will|you|i|i'd|want|like|need|to|hey|hi|hello|kindly|now|just|and|then)$/u;
const inventing = /^(?:compose|invent|improvise|brainstorm|draft)$/u;
const making = /^(?:write|tell|create|generate|give|make|produce|sing)$/u;

/** Where what is to be made ends, and what it is about begins. */
const behindWork = /^(?:about|on|of|for|to|in|with|that|which|who|where|called|titled|named|by|as|and|saying)$/u;

/**
 * The words for what a request wants made up ("write me a poem about the sea"), one of which a tool for it must say. `undefined` if it
 * wants nothing made up, or says the text itself.
 */
export function madeUpThing({ tokens }: Request): ReadonlySet<string> | undefined {
  const at = tokens.findIndex(({ word }) => !polite.test(word));
  const verb = wordAt(tokens, at);
  const isInventing = inventing.test(verb);
  if (at === -1 || !(isInventing || making.test(verb)) || isTextGiven(tokens)) return undefined;
  const isForMe = verb === "write" && /^(?:me|us)$/u.test(wordAt(tokens, at + 1));
  const rest = tokens.slice(at + 1, at + 9);
  const end = rest.findIndex(({ word, kind }) => kind !== "word" || behindWork.test(word));
  const stems = (end === -1 ? rest : rest.slice(0, end)).flatMap(({ stem }) => (stem === "" ? [] : [stem]));
  const made = isForMe || isInventing ? stems : stems.filter((stem) => works.has(stem));
  if (made.length === 0) return undefined;
  return new Set(isInventing ? [...made, ...toStems(verb)] : made);
}

/** What is in quotes or behind a colon was written already, unless it is only what the work is called or about. */
function isTextGiven(tokens: readonly Token[]): boolean {
  return tokens.some(
    (token, at) =>
      token.text === ":" ||
      (isValueToken(token) &&
        /^(?:quoted|code|json)$/u.test(token.kind) &&
        !/^(?:called|titled|named|about|on)$/u.test(wordAt(tokens, at - 1))),
  );
}

/** Tells whether a tool says that it makes such a thing, or takes a prompt for whatever is wanted. */
export function makesThing(tool: ModelTool, words: ReadonlySet<string>): boolean {
  const { ownStems } = toolWordsOf(tool);
  const isWork = (stem: string): boolean => works.has(stem) && words.has(stem);
  return (
    [...words].some((stem) => ownStems.has(stem)) ||
    parametersOf(tool).some(
      ({ choices, words: name }) =>
        toStems(choices.slice(0, 60).join(" ")).some(isWork) || /^(?:prompt|instructions?)$/u.test(name.at(-1) ?? ""),
    )
  );
}
