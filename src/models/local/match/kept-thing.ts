import type { ModelTool } from "../../model.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { sliceRequest, type Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { isValueToken, textAt, wordAt } from "../text/token.ts";
import { isReading } from "./danger.ts";

const kept = /^(?:notes?|todos?|to-dos?|reminders?|memos?|tasks?|ideas?|remember)$/u;

/** The words for what a request wants kept: "note: …", "new todo: …". `undefined` if it wants nothing kept. A number alone is looked up. */
export function keptThing({ tokens }: Request): ReadonlySet<string> | undefined {
  const at = /^(?:new|quick|my|a|another|please)$/u.test(wordAt(tokens, 0)) ? 1 : 0;
  const first = tokens[at + 2];
  if (!kept.test(wordAt(tokens, at)) || textAt(tokens, at + 1) !== ":" || first === undefined) return undefined;
  const isText = tokens.length > at + 3 || !isValueToken(first) || first.kind === "quoted";
  const stems = toStems(wordAt(tokens, at));
  return isText ? new Set(stems.flatMap((stem) => [stem, ...synonymsOf(stem)])) : undefined;
}

/** The part of a request whose words say what to do: the words of what is to be kept do not. */
export function withoutKept(request: Request): Request {
  if (keptThing(request) === undefined) return request;
  const colon = request.tokens.findIndex(({ text }) => text === ":");
  return sliceRequest(request, 0, colon);
}

/** Tells whether a tool keeps such things: what looks for them does not, and neither does what is only named in the text. */
export function keepsThing(tool: ModelTool, words: ReadonlySet<string>): boolean {
  const { ownStems } = toolWordsOf(tool);
  return !isReading(tool) && [...words].some((stem) => ownStems.has(stem));
}
