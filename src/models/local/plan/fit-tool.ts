import type { JsonValue } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import type { DoneCall } from "../conversation/read-conversation.ts";
import { hasStrictPattern } from "../fill/convert-token.ts";
import { fillParameters, type Filled } from "../fill/fill-parameters.ts";
import { hasSampleShape } from "../fill/kind-candidates.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { splitName } from "../match/create-matcher.ts";
import { isChanging } from "../match/danger.ts";
import { withoutKept } from "../match/kept-thing.ts";
import type { Request } from "../text/read-request.ts";
import { isCode, isValueToken, type Token } from "../text/token.ts";
import { findSeveral, type Several } from "./find-several.ts";
import { createRecall } from "./recall-value.ts";
import { withoutDoubt } from "./without-doubt.ts";

/** What a request says about the parameters of a tool, for one call or for several. */
export interface FilledCalls extends Filled {
  readonly several?: Several;
}

/** A tool with what the request gives it. */
export interface Fit {
  readonly tool: ModelTool;
  readonly filled: FilledCalls;
  readonly score: number;
  /** How many values of the request it has no use for. */
  readonly missed: number;
  /** How many values have the very form that their parameters ask for. */
  readonly shown: number;
  /** How many words say something that is neither about the tool nor a value for it. */
  readonly loose: number;
}

/** What was done before the step. */
interface Before {
  /** Calls that were made, the oldest first. */
  readonly calls: readonly DoneCall[];
  /** Whether this step follows another one of the same request. */
  readonly isChained: boolean;
  /** The skill whose tool was called last. */
  readonly recent?: string | undefined;
}

/** Fills a tool and adds to its score how well the values fit it. */
export function fitTool(request: Request, tool: ModelTool, score: number, { calls, isChained, recent }: Before): Fit {
  // Whoever goes on with a skill means the file it was about; what changes things must be told.
  const isSame = recent !== undefined && splitName(tool.name)[0] === recent && !isChanging(tool);
  const recall = createRecall(request, calls, { isChained, isSame });
  const filled = withSeveral(
    tool,
    request,
    withoutDoubt(tool, fillParameters({ request, parameters: parametersOf(tool), words: toolWordsOf(tool), recall })),
  );
  const values = withoutKept(request).tokens.flatMap((token, at) => (isNamed(token, at) ? [at] : []));
  const taken = values.filter((at) => filled.used.has(at)).length;
  // A name in the middle of a text is part of it.
  const isInside = (at: number): boolean => request.tokens[at]?.kind === "word" && filled.covered.has(at);
  const missed = Math.min(3, values.filter((at) => !filled.used.has(at) && !isInside(at)).length);
  const said = Object.keys(filled.input).length - filled.guessed.size;
  const shown = parametersOf(tool).filter(
    (parameter) =>
      filled.places.has(parameter.name) && !filled.guessed.has(parameter.name) && isShown(parameter, filled, request),
  ).length;
  const loose = countLoose(tool, request, filled);
  const guesses = Math.max(0, filled.guessed.size - 1) * 0.6 + Math.min(1, filled.guessed.size) * 0.13;
  const fit =
    Math.min(3, taken) * 0.6 +
    Math.min(3, said) * 0.3 +
    Math.min(2, shown) * 0.5 -
    missed * 1 -
    Math.min(3, filled.missing.length) * 0.9 -
    Math.min(4, loose) * 0.12 -
    guesses;
  return { tool, filled, score: score + fit, missed, shown, loose };
}

function countLoose(tool: ModelTool, { tokens }: Request, { covered }: Filled): number {
  const { toolStems } = toolWordsOf(tool);
  const named = new Set(parametersOf(tool).flatMap(({ stems }) => stems));
  return tokens.filter(({ stem }, at) => stem !== "" && !covered.has(at) && !toolStems.has(stem) && !named.has(stem))
    .length;
}

/** Tells whether a value has the very form that its parameter asks for: by a pattern, or because it looks like the code it is shown with. */
function isShown(parameter: Parameter, { places }: Filled, { tokens }: Request): boolean {
  const token = tokens[places.get(parameter.name)?.from ?? -1];
  return hasStrictPattern(parameter) || (token !== undefined && isCode(token) && hasSampleShape(parameter, token));
}

/** What is said several times is used as well. */
function withSeveral(tool: ModelTool, request: Request, filled: Filled): FilledCalls {
  const several = findSeveral(tool, request, filled);
  if (several === undefined) return filled;
  const [first = null] = several.values;
  const isGuessed = several.tokens.length === 0;
  return {
    ...filled,
    several,
    input: { ...filled.input, [several.name]: isGuessed ? (filled.input[several.name] as JsonValue) : first },
    used: new Set([...filled.used, ...several.tokens]),
    covered: new Set([...filled.covered, ...several.tokens]),
    guessed: isGuessed ? filled.guessed : new Set([...filled.guessed].filter((name) => name !== several.name)),
  };
}

/** Tells whether a token is something that a tool should have a use for: a value, or a name. */
function isNamed(token: Token, at: number): boolean {
  if (isCode(token)) return true;
  if (token.kind === "word") return at > 0 && token.stem !== "" && /^\p{Lu}\p{Ll}/u.test(token.text);
  return isValueToken(token) && token.kind !== "flag";
}
