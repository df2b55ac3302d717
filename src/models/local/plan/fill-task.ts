import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import { convertToken, plainText } from "../fill/convert-token.ts";
import { fillParameters, splitList, type Filled } from "../fill/fill-parameters.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { setField } from "../fill/set-field.ts";
import { hasForm } from "../fill/roles.ts";
import { skipJoints } from "../fill/read-value.ts";
import { readRequest, type Request } from "../text/read-request.ts";
import { isValueToken, type Token } from "../text/token.ts";
import { noWords, toolWordsOf } from "../fill/tool-words.ts";

/** Adds what the user answered to what was missing. */
export function addAnswers(filled: Filled, answers: readonly string[], today: string | undefined): Filled {
  const input: Record<string, JsonValue> = { ...filled.input };
  let { missing } = filled;
  for (const answer of answers) {
    const given = readAnswer(missing, readRequest(answer, today));
    for (const [name, value] of Object.entries(given)) setField(input, name, value);
    missing = missing.filter(({ name }) => !Object.hasOwn(given, name));
  }
  return { ...filled, input, missing };
}

function readAnswer(missing: readonly Parameter[], request: Request): Record<string, JsonValue> {
  const said = fillParameters({ request, parameters: missing, words: noWords });
  const given: Record<string, JsonValue> = { ...said.input };
  const [first] = missing;
  if (first === undefined) return given;
  const isOpen = !Object.hasOwn(given, first.name) || said.guessed.has(first.name);
  const value = isOpen || isWholeText(first, request) ? wholeAnswer(first, request) : undefined;
  if (value !== undefined) setField(given, first.name, value);
  return given;
}

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
export function toInputs(tool: ModelTool, request: Request, filled: Filled): JsonObject[] {
  const required = parametersOf(tool).filter(
    ({ isRequired, type, choices }) => isRequired && type === "string" && choices.length === 0,
  );
  for (const parameter of required) {
    const values = filled.guessed.has(parameter.name)
      ? listedTexts(tool, request, filled.input[parameter.name])
      : sameKind(parameter, request, filled);
    if (values.length > 1)
      return values.slice(0, mostCalls).map((value) => ({ ...filled.input, [parameter.name]: value }));
  }
  return [filled.input];
}

/** "Add tasks: a, b and c": a plural before the colon says that it is a list. */
function listedTexts(tool: ModelTool, { tokens }: Request, value: JsonValue | undefined): JsonValue[] {
  const colon = tokens.findIndex(({ text }) => text === ":");
  const noun = tokens[colon - 1];
  const isPlural =
    noun !== undefined &&
    /(?:s|following)$/u.test(noun.word) &&
    (toolWordsOf(tool).toolStems.has(noun.stem) || noun.stem === "");
  return isPlural && typeof value === "string" ? splitList(value) : [];
}

function sameKind(parameter: Parameter, { tokens }: Request, { input, used }: Filled): JsonValue[] {
  const value = input[parameter.name];
  const first = tokens.findIndex((token) => isValueToken(token) && plainText(token) === value);
  if (first === -1) return [];
  const values: JsonValue[] = [value as JsonValue];
  for (let at = skipJoints(tokens, first + 1); at > first + 1 && at < tokens.length;) {
    const token = tokens[at] as Token;
    const next = token.kind === tokens[first]?.kind && !used.has(at) ? convertToken(parameter, token) : undefined;
    if (next === undefined) break;
    values.push(next);
    const joint = skipJoints(tokens, at + 1);
    if (joint === at + 1) break;
    at = joint;
  }
  return values;
}
