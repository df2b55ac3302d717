import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import { convertToken } from "../fill/convert-token.ts";
import { fillParameters, splitList, takesWords } from "../fill/fill-parameters.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { setField } from "../fill/set-field.ts";
import { hasForm, rolesOf } from "../fill/roles.ts";
import { readRequest, type Request } from "../text/read-request.ts";
import type { Token } from "../text/token.ts";
import { noWords, toolWordsOf } from "../fill/tool-words.ts";
import type { FilledCalls } from "./fit-tool.ts";

/** Adds what the user answered to what was missing. */
export function addAnswers(
  tool: ModelTool,
  filled: FilledCalls,
  answers: readonly string[],
  today: string | undefined,
): FilledCalls {
  const input: Record<string, JsonValue> = { ...filled.input };
  let { missing } = filled;
  for (const answer of answers) {
    const open = parametersOf(tool).filter(({ name }) => !Object.hasOwn(input, name));
    const given = readAnswer(tool, missing, open, readRequest(answer, today));
    for (const [name, value] of Object.entries(given)) setField(input, name, value);
    missing = missing.filter(({ name }) => !Object.hasOwn(given, name));
  }
  return { ...filled, input, missing };
}

/** What an answer says about what was asked for, and about what may be left out: what another parameter has taken is no part of a text. */
function readAnswer(
  tool: ModelTool,
  missing: readonly Parameter[],
  open: readonly Parameter[],
  request: Request,
): Record<string, JsonValue> {
  const [first] = missing;
  if (first === undefined) return {};
  const isLong = longTexts.some((role) => rolesOf(first).has(role));
  const words = { ...noWords, about: toolWordsOf(tool).about };
  // Plain words are for what was asked for.
  const others = isLong ? [] : open.filter((parameter) => !missing.includes(parameter) && !takesWords(parameter));
  const said = fillParameters({ request, parameters: [...missing, ...others], words });
  const given: Record<string, JsonValue> = { ...said.input };
  const hasOthers = [...said.places.keys()].some((name) => name !== first.name && !said.guessed.has(name));
  const isOpen = !Object.hasOwn(given, first.name) || (said.guessed.has(first.name) && !hasOthers);
  const isWhole = !hasOthers && isWholeText(first, request);
  const value = isOpen || isWhole ? wholeAnswer(first, request) : undefined;
  if (value !== undefined) setField(given, first.name, value);
  return given;
}

/** What may be many words: a choice in the middle of them is part of the text. */
const longTexts = ["text", "query", "name"] as const;

/** "Ada Lovelace" for a name is all of it, if nothing in it is a name of a parameter. */
function isWholeText(parameter: Parameter, { tokens }: Request): boolean {
  const isBare = !tokens.some(({ kind, text }) => kind === "pair" || kind === "flag" || text === ":");
  return isBare && parameter.type === "string" && parameter.choices.length === 0 && !hasForm(parameter);
}

/** A short answer is the value itself. */
function wholeAnswer(parameter: Parameter, request: Request): JsonValue | undefined {
  if (isMessage(parameter)) return convertToken(parameter, toQuotedToken(request.text.trim()));
  const text = request.text
    .replace(/^\s*(?:it's|it is|use|take|make it|the|to|by|in|at|on|from|for|with|that's|that is|please)\s+/iu, "")
    .replace(/[.!]?\s*$/u, "")
    .trim();
  const [token, ...rest] = readRequest(text).tokens;
  if (token === undefined) return undefined;
  if (parameter.type === "array") {
    const { item } = parameter;
    const values =
      item === undefined ? [] : splitList(text).flatMap((part) => wholeAnswer(item, { ...request, text: part }) ?? []);
    return values.length === 0 ? undefined : values;
  }
  const whole: Token = rest.length === 0 ? token : { ...token, kind: "quoted", value: text };
  const fitting = convertToken(parameter, whole);
  if (fitting !== undefined) return fitting;
  return request.tokens.map((token) => convertToken(parameter, token)).find((value) => value !== undefined);
}

/** What is sent or written is taken as it is said, to the last exclamation mark. */
function isMessage({ type, words, choices }: Parameter): boolean {
  return (
    type === "string" && choices.length === 0 && /^(?:message|body|content|text|comment)$/u.test(words.at(-1) ?? "")
  );
}

function toQuotedToken(text: string): Token {
  const [quoted, ...rest] = readRequest(text).tokens;
  const isQuoted = rest.length === 0 && quoted?.kind === "quoted";
  return isQuoted ? quoted : { kind: "quoted", text, word: "", stem: "", value: text, start: 0, end: text.length };
}

/** More calls at once are a mistake, or hostile. */
const mostCalls = 20;

/** The inputs of one task: several if it names several things for a tool that takes one ("a.md and b.md", "tasks: a, b, c"). */
export function toInputs({ input, several }: FilledCalls): JsonObject[] {
  if (several === undefined) return [input];
  return several.values.slice(0, mostCalls).map((value) => ({ ...input, [several.name]: value }));
}
