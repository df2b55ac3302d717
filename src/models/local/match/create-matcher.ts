import { createTextIndex, type TextIndex } from "../../../core/text-search.ts";
import type { ModelTool } from "../../model.ts";
import type { ListedSkill } from "../conversation/parse-catalog.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { hasOtherFormat } from "./formats.ts";
import type { Request } from "../text/read-request.ts";
import { isEmptyWord, toStems } from "../text/stems.ts";
import { synonymsOf } from "../text/synonyms.ts";
import { toForm, toQuery, type QueryWord } from "./to-query.ts";
import { verbsIn } from "./verbs.ts";

/** Something that a request can be for. */
export interface Item {
  readonly id: string;
  readonly tool?: ModelTool;
  readonly skill?: ListedSkill;
  /** How much each of its words says about it. */
  readonly weights: ReadonlyMap<string, number>;
  /** Of its own name, without that of its skill. */
  readonly nameStems: readonly string[];
  /** Of the first word of its description, and of those that are joined to it ("Move or rename"): mostly what it does. */
  readonly verbs: ReadonlySet<string>;
  /** What it says that it does not do: "without unpacking". */
  readonly undone: ReadonlySet<string>;
  /** What it says. */
  readonly about: string;
  /** The words of that, and of what else it says much with, as they are written, but for the "s" of plurals and verbs. */
  readonly forms: ReadonlySet<string>;
}

/** How well something fits a request, by its words alone. */
export interface Match {
  readonly item: Item;
  readonly score: number;
}

/** Finds what a request is for. */
export interface Matcher {
  rank(request: Request): Match[];
}

/** More are not looked at closely. */
const closest = 40;

/** Makes a matcher over tools and skills. */
export function createMatcher(tools: readonly ModelTool[], skills: readonly ListedSkill[]): Matcher {
  const items = new Map([...tools.map(toToolItem), ...skills.map(toSkillItem)].map((item) => [item.id, item]));
  const index = createTextIndex(
    [...items.values()].map(({ id, weights }) => ({ id, texts: [[[...weights.keys()].join(" "), 1]] as const })),
  );
  const spread = new Map<string, number>();
  for (const { weights } of items.values()) {
    // What is only said about a parameter makes a word known, but not common.
    for (const [stem, weight] of weights) spread.set(stem, (spread.get(stem) ?? 0) + (weight >= 1 ? 1 : 0));
  }
  return {
    rank(request) {
      const words = toQuery(request, spread);
      const candidates = findCandidates(index, words, spread).flatMap((id) => items.get(id) ?? []);
      // A skill is not opened for a file that it cannot read; a tool is looked at more closely later.
      const fitting = candidates.filter(({ skill, about }) => skill === undefined || !hasOtherFormat(request, about));
      const matches = fitting.map((item) => ({
        item,
        score: scoreItem(item, words, { spread, count: items.size }),
      }));
      return matches
        .filter(({ score }) => score > 0)
        .toSorted((left, right) => right.score - left.score || (left.item.id < right.item.id ? -1 : 1));
    },
  };
}

/** By the words that were said, and by those that mean the same. Words that nothing has are left out: what they may be was found already. */
function findCandidates(index: TextIndex, words: readonly QueryWord[], spread: ReadonlyMap<string, number>): string[] {
  const search = (stems: readonly string[]): string[] => {
    const known = stems.filter((stem) => spread.has(stem));
    return known.length === 0 ? [] : index.search(known.join(" "), closest).map(({ id }) => id);
  };
  const said = search(words.map(({ stem, meant }) => meant ?? stem));
  const meant = search(words.flatMap(({ stem }) => [...synonymsOf(stem)]));
  return [...new Set([...said, ...meant])];
}

const toolItems = new WeakMap<ModelTool, Item>();

function toToolItem(tool: ModelTool): Item {
  const remembered = toolItems.get(tool);
  if (remembered !== undefined) return remembered;
  const [owner, own = owner] = splitName(tool.name);
  const description = (tool.description ?? "").slice(0, 4000);
  const weights = new Map<string, number>();
  addWords(weights, own, 3);
  if (own !== tool.name) addWords(weights, owner, 1.6);
  addDescription(weights, description, 1.7);
  const parameters = parametersOf(tool);
  for (const parameter of parameters) {
    addWords(weights, parameter.name, 1);
    addWords(weights, parameter.description, 0.5);
    addWords(weights, choicesOf(parameter), 1.3);
  }
  const item: Item = {
    id: `tool ${tool.name}`,
    tool,
    weights,
    nameStems: nameStemsOf(own),
    verbs: verbsIn(description),
    undone: undoneIn(description),
    about: description,
    forms: formsIn([tool.name, description, ...parameters.flatMap((each) => [each.name, choicesOf(each)])].join(" ")),
  };
  toolItems.set(tool, item);
  return item;
}

/** "get" in a name says nothing. */
function nameStemsOf(name: string): string[] {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => !isEmptyWord(word.toLowerCase()));
  return words.length === 0 ? toStems(name) : toStems(words.join(" "));
}

function toSkillItem(skill: ListedSkill): Item {
  const weights = new Map<string, number>();
  addWords(weights, skill.name, 3);
  addDescription(weights, skill.description.slice(0, 4000), 1.8);
  return {
    id: `skill ${skill.name}`,
    skill,
    weights,
    nameStems: [],
    verbs: verbsIn(skill.description),
    undone: undoneIn(skill.description.slice(0, 4000)),
    about: skill.description.slice(0, 4000),
    forms: formsIn(`${skill.name} ${skill.description.slice(0, 4000)}`),
  };
}

function choicesOf({ choices }: Parameter): string {
  return choices.slice(0, 60).join(" ");
}

function formsIn(text: string): ReadonlySet<string> {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return new Set(Array.from(spaced.matchAll(/\p{L}+/gu), ([word]) => toForm(word)));
}

function undoneIn(description: string): ReadonlySet<string> {
  const verbs = [...description.matchAll(/\bwithout (\w{3,30}ing)\b/giu)].flatMap(([, verb = ""]) => toStems(verb));
  return new Set(verbs.flatMap((verb) => [verb, ...synonymsOf(verb)]));
}

/** The owner and the own name of a wire name (`owner__name`). */
export function splitName(name: string): [owner: string, own?: string] {
  const at = name.indexOf("__");
  return at <= 0 ? [name] : [name.slice(0, at), name.slice(at + 2)];
}

function addDescription(weights: Map<string, number>, description: string, weight: number): void {
  const end = description.search(/[.!?](?:\s|$)/u);
  addWords(weights, end === -1 ? description : description.slice(0, end), weight);
  if (end !== -1) addWords(weights, description.slice(end), weight * 0.75);
}

function addWords(weights: Map<string, number>, text: string, weight: number): void {
  for (const stem of toStems(text)) weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
}

/** What nearly every tool does in some way: such a word tells skills apart even less than tools. */
const commonVerbs = new Set(
  toStems("list show find get make create read write add check search open print display see view tell file"),
);

/** What is said of all sorts of things: what they are done to tells more. */
const lightVerbs = new Set(toStems("set update change put start turn run do"));

/** How often words are said by all that there is. */
interface Corpus {
  readonly spread: ReadonlyMap<string, number>;
  readonly count: number;
}

function scoreItem(item: Item, words: readonly QueryWord[], corpus: Corpus): number {
  let score = 0;
  let hasSubject = false;
  const unknown: QueryWord[] = [];
  const named = new Map<string, number>();
  if (words.some(({ stem, isFirst }) => isFirst && item.undone.has(stem))) return 0;
  for (const word of words) {
    const found = bestWord(item, word, corpus);
    if (found === undefined) {
      unknown.push(word);
      continue;
    }
    const part = word.share * found.trust * rarityOf(found.stem, corpus) * commonness(item, word, found);
    score += part * (item.weights.get(found.stem) ?? 0);
    hasSubject ||= isSubject(word, found);
    const isName = item.nameStems.includes(found.stem);
    if (isName) named.set(found.stem, Math.max(named.get(found.stem) ?? 0, found.trust * Math.min(1, word.share)));
    if (word.isFirst && (isName || item.verbs.has(found.stem))) score += 1.2 * part;
  }
  const against = item.tool === undefined ? otherFormat(unknown, corpus) : strangeWords(unknown, corpus);
  return score - against * (hasSubject ? 1 : 2) + scoreName(item, named);
}

/** Tells whether a word says what something is about, and not only that something is to be shown or made. */
function isSubject({ stem, share }: QueryWord, found: FoundWord): boolean {
  return share >= 0.5 && !isVerb(stem) && !isVerb(found.stem);
}

function isVerb(stem: string): boolean {
  return commonVerbs.has(stem) || lightVerbs.has(stem);
}

/** A skill is not opened for a file of a format that others name and it does not. */
function otherFormat(unknown: readonly QueryWord[], corpus: Corpus): number {
  return unknown.some((word) => word.isFormat && strangeness(word, corpus) > 0) ? 1.2 : 0;
}

function strangeWords(unknown: readonly QueryWord[], corpus: Corpus): number {
  return Math.min(1.6, 0.8 * unknown.reduce((sum, word) => sum + strangeness(word, corpus), 0));
}

/** A word that others know and this one does not speaks against it. */
function strangeness({ stem, share }: QueryWord, corpus: Corpus): number {
  const isKnown = (corpus.spread.get(stem) ?? 0) > 0 && !commonVerbs.has(stem);
  return isKnown ? share * rarityOf(stem, corpus) : 0;
}

function commonness({ skill }: Item, { stem }: QueryWord, found: FoundWord): number {
  return skill !== undefined && (commonVerbs.has(stem) || commonVerbs.has(found.stem)) ? 0.4 : 1;
}

/** A name that was said in full was meant. One of which only the verb was said, and not what it is about, was not. */
function scoreName({ nameStems }: Item, named: ReadonlyMap<string, number>): number {
  const names = new Set(nameStems);
  if (names.size === 0) return 0;
  const subjects = [...names].filter((stem) => !commonVerbs.has(stem));
  const isOther = named.size > 0 && subjects.length > 0 && !subjects.some((stem) => named.has(stem));
  const said = [...named.values()].reduce((sum, trust) => sum + trust, 0);
  return (2 * said) / names.size - 0.3 * (names.size - named.size) - (isOther ? 1.2 : 0);
}

function rarityOf(stem: string, { spread, count }: Corpus): number {
  return Math.max(0.45, 1 - Math.log(Math.max(1, spread.get(stem) ?? 1)) / Math.log(count + 8));
}

/** How much a word says that stands there in another form. */
const otherFormTrust = 0.9;

interface FoundWord {
  readonly stem: string;
  /** A word that means the same says less than the word itself, and one that was misspelt less than that. */
  readonly trust: number;
}

function bestWord(item: Item, { stem, form, meant, isImplied }: QueryWord, { spread }: Corpus): FoundWord | undefined {
  const own = item.weights.get(stem) ?? 0;
  // "Headings" and "headers" have one stem, and are not the same.
  if (own >= 1) return { stem, trust: form === undefined || item.forms.has(form) ? 1 : otherFormTrust };
  // What means the same says less about a skill if another one has the word itself.
  const trust = item.skill !== undefined && (spread.get(stem) ?? 0) > 0 ? 0.4 : 0.55;
  let best = own > 0 ? { stem, trust: 1 } : meantWord(item, stem, meant);
  const worth = (found: FoundWord): number => (item.weights.get(found.stem) ?? 0) * found.trust;
  // What is only said about a parameter may say less than another word for what the tool is about.
  for (const synonym of isImplied ? [] : synonymsOf(stem)) {
    const found = { stem: synonym, trust };
    if (item.weights.has(synonym) && (best === undefined || worth(found) > worth(best))) best = found;
  }
  return best;
}

function meantWord({ weights }: Item, stem: string, meant: string | undefined): FoundWord | undefined {
  return meant !== undefined && weights.has(meant) ? { stem: meant, trust: stem.length > 5 ? 0.9 : 0.7 } : undefined;
}
