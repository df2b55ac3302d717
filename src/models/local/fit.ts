import type { JsonValue } from "../../core/json.ts";
import { createTextIndex } from "../../core/text-search.ts";
import type { ModelTool } from "../model.ts";
import type { ListedSkill } from "./conversation.ts";
import { fillParameters, type Filled } from "./fill.ts";
import { parametersOf, type Parameter } from "./parameters.ts";
import type { Request, Token } from "./read-request.ts";
import { genericVerbs, isAmong, isBlocker, isReading, readingVerbs, squash, stemsOf } from "./words.ts";

/** How well a tool or a skill accounts for the words of a request. */
export interface Account {
  /** Words that are words of it, other than verbs that fit everything. */
  readonly evidence: number;
  /** Words that are words of it. */
  readonly matched: number;
  /** Words that it says nothing about, and values that it has no place for. */
  readonly unknown: readonly Token[];
}

/** A tool with the input that a request gives it. */
export interface Fit extends Account {
  readonly tool: ModelTool;
  readonly filled: Filled;
  /** Whether it may run: every value has a place, and (nearly) every word is accounted for. */
  readonly isSure: boolean;
  /** Whether it is near enough to ask for what is missing. */
  readonly isNear: boolean;
}

/** What a request is held against. */
export interface FitOptions {
  readonly skills: readonly ListedSkill[];
  readonly today?: string | undefined;
  recall?(parameter: Parameter): JsonValue | undefined;
}

/** How many tools, the best of a text search, are tried with the values of the request. */
const mostTools = 16;

/** The tools that may be meant, the best first. */
export function rankTools(request: Request, tools: readonly ModelTool[], options: FitOptions): Fit[] {
  const places = new Map(searchTools(request, tools, options).map((tool, place) => [tool, place]));
  return [...places.keys()]
    .map((tool) => fitTool(request, tool, options))
    .toSorted(
      (left, right) =>
        Number(right.isSure) - Number(left.isSure) ||
        left.unknown.length - right.unknown.length ||
        right.evidence - left.evidence ||
        right.matched - left.matched ||
        left.filled.missing.length - right.filled.missing.length ||
        (places.get(left.tool) ?? 0) - (places.get(right.tool) ?? 0),
    );
}

function searchTools({ text }: Request, tools: readonly ModelTool[], { skills }: FitOptions): ModelTool[] {
  if (tools.length <= mostTools) return [...tools];
  const about = new Map(skills.map(({ name, description }) => [name, description]));
  const index = createTextIndex(
    tools.map(({ name, description = "", inputSchema }, place) => ({
      id: String(place),
      texts: [
        [name, 2],
        [description, 2],
        [Object.keys((inputSchema["properties"] as object | undefined) ?? {}).join(" "), 1],
        [about.get(skillOf(name) ?? "") ?? "", 0.5],
      ],
    })),
  );
  return index.search(text, mostTools).map(({ id }) => tools[Number(id)] as ModelTool);
}

/** The skill that a tool belongs to, by its name on the wire. */
export function skillOf(name: string): string | undefined {
  const end = name.indexOf("__");
  return end === -1 ? undefined : name.slice(0, end);
}

function ownName(name: string): string {
  const skill = skillOf(name);
  return skill === undefined ? name : name.slice(skill.length + 2);
}

/** Whether `request` names `tool` as it is written, or as words: `move_object`, "move object". */
export function isNamed({ text }: Request, { name }: ModelTool): boolean {
  const own = ownName(name);
  const words = own.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").split(/[^\p{L}\p{N}]+/u);
  return words.length > 1 && squash(text).startsWith(squash(own));
}

/** Holds a tool against a request. */
export function fitTool(request: Request, tool: ModelTool, { skills, ...options }: FitOptions): Fit {
  const { name, description = "" } = tool;
  const parameters = parametersOf(tool.inputSchema);
  const isRead = isReadOnly(name, description, parameters);
  const isIn = (...stems: (readonly string[])[]): ((token: Token) => boolean) => wordTest(stems.flat(), isRead);
  const own = stemsOf(`${ownName(name)} ${description}`);
  const skill = skills.find((one) => one.name === skillOf(name));
  const told = parameters.flatMap(({ aboutWords }) => aboutWords);
  const far = isRead && skill !== undefined ? stemsOf(`${skill.name} ${skill.description}`) : [];
  const namesOf = (all: readonly Parameter[]): string[] => all.flatMap(({ words }) => words);
  const isOrdered = startsWith(request, tool, isRead);
  const isOwn = isIn(own);
  const filled = fillParameters({
    ...options,
    request,
    parameters,
    isOwn,
    isKnown: isIn(own, namesOf(parameters), told, far),
    isLoose: isRead && !/^(?:are|did|do|does|has|have|is|was|were)$/iu.test(request.tokens[0]?.text ?? ""),
    isOrdered,
  });
  // The name of a parameter that has no value is a word that is not accounted for.
  const names = namesOf(parameters.filter((one) => one.isRequired || Object.hasOwn(filled.input, one.name)));
  const isNamed = isIn(own, names);
  const isTold = isIn(own, names, told);
  const isAround = isIn(own, names, told, far);
  // What is asked for must be said by the tool itself: "unpack a.zip" is nothing for one that only looks into archives.
  const first = request.tokens.find(({ text }) => !isPolite(text));
  const isWord = (token: Token): boolean => {
    // "Thai" stands in a description as an example: that does not account for it.
    const isExample = token !== request.tokens[0] && /^\p{Lu}\p{Ll}/u.test(token.text);
    return isNamed(token) || (!isExample && (token === first ? isTold(token) : isAround(token)));
  };
  const account = takeAccount(
    request.tokens.filter((token) => !filled.used.has(token)),
    { isOwn, isWord, isRead },
  );
  const evidence = account.evidence + filled.named + (isOrdered ? filled.placed : 0);
  const isMeant = evidence > 0 && (isRead || (isOrdered && isCommand(request)));
  const isSure = isMeant && account.unknown.length === 0 && !request.isCut;
  return {
    ...account,
    evidence,
    tool,
    filled,
    isSure,
    isNear: isMeant && account.unknown.length < account.matched + filled.named,
  };
}

/** Whether a word is one of some words; for what only reads, or means the same as one. */
function wordTest(stems: readonly string[], isRead: boolean): (token: Token) => boolean {
  const words = new Set(stems);
  return (token) =>
    token.stems.length > 0 &&
    !/[^\p{L}\p{N}_-]/u.test(token.text) &&
    token.stems.every((stem) => isAmong(words, stem, isRead));
}

/** Whether a tool only reads. Converting a file writes another one; converting a value changes nothing. */
function isReadOnly(name: string, description: string, parameters: readonly Parameter[]): boolean {
  const stems = stemsOf(`${ownName(name)} ${description.slice(0, 40)}`);
  const isConverting = stems.some((stem) => /^(?:convert|encod|decod|translat)$/u.test(stem));
  if (isConverting && parameters.some(({ takes }) => takes === "file")) return false;
  return isReading(ownName(name), description);
}

interface Words {
  isOwn(token: Token): boolean;
  isWord(token: Token): boolean;
  /** Whether verbs that fit everything ("show", "get") need not be accounted for. */
  readonly isRead: boolean;
}

function takeAccount(tokens: readonly Token[], { isOwn, isWord, isRead }: Words): Account {
  const said = tokens.filter(({ isFiller }) => !isFiller);
  const isGeneral = ({ stems }: Token): boolean => stems.length > 0 && stems.every((stem) => genericVerbs.has(stem));
  const known = said.filter((token) => /id|word/u.test(token.kind) && isWord(token));
  const evidence = known.filter((token) => isOwn(token) && !isGeneral(token));
  const unknown = said.filter((token) => !known.includes(token) && !(isRead && isGeneral(token)));
  return { evidence: evidence.length, matched: known.length, unknown };
}

/** Whether a request begins with what a tool does. */
function startsWith({ tokens }: Request, { name, description = "" }: ModelTool, isRead: boolean): boolean {
  const firsts = [tokens.find(({ text }) => !isPolite(text)), tokens.find(({ isFiller }) => !isFiller)];
  const stems = [...stemsOf(description.slice(0, 60)).slice(0, 1), ...stemsOf(ownName(name))];
  // "note: …" is no order to find notes.
  const verbs = stems.filter((stem, index) => !isRead || index === 0 || readingVerbs.has(stem));
  const known = new Set(verbs);
  return firsts.some((first) => first?.stems.some((stem) => isAmong(known, stem, isRead)) === true);
}

const isPolite = (word: string): boolean => /^(?:can|could|kindly|please|will|you)$/iu.test(word);
const told = /^(?:are|had|has|is|looks?|seems?|was|were)$/iu;

/** Whether a request orders something. "The volume was 40" has the words of `set-volume`, but orders nothing. */
function isCommand({ tokens, isQuestion }: Request): boolean {
  const isTold = tokens.some(({ kind, text }) => kind === "word" && (isBlocker(text) || told.test(text)));
  return !isTold && (!isQuestion || isPolite(tokens[0]?.text ?? ""));
}

/** How well skills fit that can be opened, the best first. Opening one changes nothing. */
export function rankSkills(
  { tokens }: Request,
  skills: readonly ListedSkill[],
): { readonly skill: ListedSkill; readonly account: Account }[] {
  // What is behind a colon is a value of some tool.
  const colon = tokens.findIndex(({ hasColon, kind }) => hasColon && kind === "word");
  const said = colon === -1 ? tokens : tokens.slice(0, colon + 1);
  const endings = stemsOf(
    tokens.flatMap(({ kind, text }) => (kind === "file" ? text.split(".").slice(1) : [])).join(" "),
  );
  const ranked = skills.map((skill) => {
    const stems = stemsOf(`${skill.name} ${skill.description}`);
    const isWord = wordTest(stems, true);
    const kinds = new Set(endings.filter((ending) => stems.includes(ending))).size;
    const names = stemsOf(skill.name);
    const named = said.filter((token) => token.stems.some((stem) => names.includes(stem))).length;
    const { evidence, matched, unknown } = takeAccount(said, { isOwn: isWord, isWord, isRead: true });
    const lost = unknown.filter(({ kind }) => kind === "word");
    return { skill, account: { evidence: evidence + kinds + named, matched: matched + kinds, unknown: lost } };
  });
  return ranked
    .filter(({ account }) => account.evidence > 0 && account.matched >= account.unknown.length)
    .toSorted(
      ({ account: left }, { account: right }) => right.matched - left.matched || right.evidence - left.evidence,
    );
}
