import type { JsonValue } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import { convertToken } from "../fill/convert-token.ts";
import { splitList, type Filled, type FilledPlace } from "../fill/fill-parameters.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { skipJoints } from "../fill/read-value.ts";
import { rolesOf } from "../fill/roles.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { isChanging } from "../match/danger.ts";
import { numberedItems } from "../text/numbered-items.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { isCode, isValueToken, type Token, wordAt } from "../text/token.ts";

/** Several values for a parameter that takes one: each is for a call of its own. */
export interface Several {
  readonly name: string;
  readonly values: readonly JsonValue[];
  /** The tokens that say them. */
  readonly tokens: readonly number[];
}

/** Finds "a.md and b.md", "in Paris and in Rome", "tasks: a, b, c" for a tool that takes one of them. */
export function findSeveral(tool: ModelTool, request: Request, filled: Filled): Several | undefined {
  const isNumbered = ({ type, isRequired }: Parameter): boolean =>
    type === "integer" && isRequired && !isChanging(tool);
  const parameters = parametersOf(tool).filter(
    (parameter) => parameter.choices.length === 0 && (parameter.type === "string" || isNumbered(parameter)),
  );
  for (const parameter of parameters) {
    const place = filled.places.get(parameter.name);
    const found =
      listedTexts(tool, parameter, request, filled) ??
      (place === undefined ? undefined : sameKind({ tool, request, filled }, parameter, place));
    if (found !== undefined && found.values.length > 1) return found;
  }
  return undefined;
}

/** "Add tasks: a, b and c": a plural before the colon says that it is a list. */
function listedTexts(
  tool: ModelTool,
  { name, stems }: Parameter,
  { tokens }: Request,
  { guessed, input }: Filled,
): Several | undefined {
  const value = input[name];
  const colon = tokens.findIndex(({ text }) => text === ":");
  const noun = tokens[colon - 1];
  const isPlural =
    noun !== undefined &&
    /(?:s|following)$/u.test(noun.word) &&
    (toolWordsOf(tool).toolStems.has(noun.stem) || noun.stem === "");
  if (typeof value !== "string") return undefined;
  if (guessed.has(name) && isPlural) return { name, values: splitList(value), tokens: [] };
  const isItem = [...toStems(tool.name), ...stems].some((stem) => itemStems.has(stem));
  // What keeps a task keeps each of a list by itself; a note or a message may be a list.
  const { items } = isItem ? numberedItems(value) : { items: [] };
  return items.length > 1 ? { name, values: items, tokens: [] } : undefined;
}

const itemStems = new Set(toStems("task todo item reminder chore article product entry issue ticket event contact"));

/** What is asked of a tool. */
interface Asked {
  readonly tool: ModelTool;
  readonly request: Request;
  readonly filled: Filled;
}

/** What follows the value, joined by a comma or an "and", and is of the same kind. */
function sameKind(
  { tool, request, filled }: Asked,
  parameter: Parameter,
  { from, to }: FilledPlace,
): Several | undefined {
  const { tokens } = request;
  const first = tokens[from] as Token;
  const isTaken = (at: number): boolean => filled.used.has(at) || filled.covered.has(at);
  const isFree = (at: number): boolean => !isTaken(at) || (at >= from && at < to);
  const cue = wordAt(tokens, from - 1);
  const readAt = (at: number): Part | undefined => (isFree(at) ? readPart(parameter, request, first, at) : undefined);
  const own = readAt(from);
  if (own === undefined || (isPlainName(first) && !splitsNames(tool, parameter))) return undefined;
  const parts = [own];
  for (let last = own; ;) {
    const joint = skipJoints(tokens, last.to);
    if (joint === last.to) break;
    const at = cue !== "" && wordAt(tokens, joint) === cue ? joint + 1 : joint;
    const next = readAt(at);
    if (next === undefined) break;
    parts.push(next);
    last = next;
  }
  return {
    name: parameter.name,
    values: parts.map(({ value }) => value),
    tokens: parts.flatMap((part) => Array.from({ length: part.to - part.from }, (_, index) => part.from + index)),
  };
}

interface Part {
  readonly value: JsonValue;
  readonly from: number;
  readonly to: number;
}

function readPart(parameter: Parameter, { tokens, text }: Request, first: Token, at: number): Part | undefined {
  const token = tokens[at];
  if (token === undefined || token.kind !== first.kind || isCode(token) !== isCode(first)) return undefined;
  let to = at + 1;
  if (isPlainName(first)) {
    if (!isPlainName(token)) return undefined;
    while (tokens[to] !== undefined && isPlainName(tokens[to] as Token)) to += 1;
  } else if (!isValueToken(token) && !isCode(token)) return undefined;
  const whole = text.slice(token.start, tokens[to - 1]?.end);
  const value = convertToken(parameter, isPlainName(token) ? { ...token, text: whole } : token);
  return value === undefined ? undefined : { value, from: at, to };
}

/** A word that is a name because of its capital. */
function isPlainName(token: Token): boolean {
  return token.kind === "word" && !isCode(token) && /^\p{Lu}/u.test(token.text);
}

/** "Rosa and Rocco" may be one restaurant and "Simon and Garfunkel" one song: where nothing is changed, and of places, two are two. */
function splitsNames(tool: ModelTool, parameter: Parameter): boolean {
  const roles = rolesOf(parameter);
  return !isChanging(tool) && !roles.has("text") && !roles.has("query") && !roles.has("name");
}
