import { parseSynopsis } from "../usage/parse-synopsis.ts";
import type { UsageFacts } from "../usage/read-usage.ts";
import type { Synopsis } from "../usage/synopsis.ts";
import { noFacts, type ArgvFacts } from "./argv-facts.ts";

/** A sub-command and all that was found about it. */
export interface CommandGroup {
  readonly words: readonly string[];
  /** Usage lines, from after the words on. */
  readonly synopses: readonly Synopsis[];
  readonly facts: ArgvFacts;
  readonly description?: string;
}

interface OpenGroup {
  readonly words: readonly string[];
  readonly synopses: Synopsis[];
  facts: ArgvFacts;
  description?: string;
}

const notCommands = /^(?:-.*|\*|help|version|\?)$/u;
const commandLabel = /^(?:sub-?)?(?:command|cmd|action|mode|operation|verb|task)s?$/iu;
const mostCommands = 100;

/**
 * Finds the sub-commands of a script: those its code tells apart, those its help lists, those its usage lines begin with. None if
 * its first argument is an ordinary value. `isWord` tells whether a text stands in the code as a string of its own.
 */
export function pickCommands(
  usage: UsageFacts,
  facts: ArgvFacts,
  isWord: (text: string) => boolean,
): readonly CommandGroup[] | undefined {
  const groups = new Map<string, OpenGroup>();
  addFromCode(groups, facts);
  const inCode = groups.size;
  addFromTable(groups, usage);
  addFromSynopses(groups, usage, isWord);
  dropParents(groups);
  if (groups.size < 2 && inCode === 0) return undefined;
  if (hasOrdinaryFirst(usage, groups) || (inCode > 0 && !tellsApart(groups))) return undefined;
  addShared(groups, usage);
  addFromExamples(groups, usage);
  return [...groups.values()].slice(0, mostCommands);
}

function addFromCode(groups: Map<string, OpenGroup>, facts: ArgvFacts): void {
  for (const { names, facts: own } of facts.commands) {
    const [name] = names;
    if (name === undefined || notCommands.test(name) || groups.has(name)) continue;
    groups.set(name, { words: [name], synopses: [], facts: own });
  }
}

function addFromTable(groups: Map<string, OpenGroup>, usage: UsageFacts): void {
  for (const { head, description } of usage.commands) {
    const [, name, rest = ""] = /^([A-Za-z][\w:-]*)(?:\s*[,|/]\s*[A-Za-z][\w:-]*)*(?:\s+(.*))?$/u.exec(head) ?? [];
    if (name === undefined || notCommands.test(name)) continue;
    const group = groups.get(name) ?? { words: [name], synopses: [], facts: noFacts };
    groups.set(name, group);
    group.synopses.push(parseSynopsis(rest));
    if (description !== "") group.description ??= description;
  }
}

function addFromSynopses(groups: Map<string, OpenGroup>, usage: UsageFacts, isWord: (text: string) => boolean): void {
  for (const synopsis of usage.synopses) {
    const words = leadingWords(synopsis, (word) => groups.has(word) || isWord(word));
    if (words[0] === undefined || notCommands.test(words[0])) continue;
    // Deeper words make a command of their own: `issue create` beside `issue list`.
    const key = words.join(" ");
    const group = groups.get(key) ?? { words, synopses: [], facts: noFacts };
    groups.set(key, group);
    addSynopsis(group, synopsis);
  }
}

/** What stands in the place of the arguments of any command: `<command> [args]`. */
const anyArguments = /^(?:args?|arguments?|options?|opts?|params?|parameters?|flags?|value|etc)s?$/iu;

/** `<command> <repository> <query>` holds for all commands, if nothing else is said about the arguments of any of them. */
function addShared(groups: ReadonlyMap<string, OpenGroup>, usage: UsageFacts): void {
  const shared = usage.synopses.find(({ items: [first, ...others] }) => {
    const isCommand = first?.kind === "positional" && commandLabel.test(first.label);
    return isCommand && others.some((item) => item.kind === "positional" && !anyArguments.test(item.label));
  });
  if (shared === undefined || [...groups.values()].some(hasArguments)) return;
  for (const group of groups.values()) group.synopses.push({ ...shared, items: shared.items.slice(1) });
}

function hasArguments({ synopses, facts }: OpenGroup): boolean {
  const isSaid = synopses.some(({ items }) => items.some(({ kind }) => kind === "positional"));
  return isSaid || facts.positions.size > 0 || facts.rest !== undefined;
}

/** Examples add to commands about which nothing else is said; they do not make new ones. */
function addFromExamples(groups: ReadonlyMap<string, OpenGroup>, usage: UsageFacts): void {
  const silent = new Set([...groups.values()].filter(({ synopses }) => synopses.length === 0));
  for (const synopsis of usage.calls) {
    const words = leadingWords(synopsis, (word) => groups.has(word));
    const group = groups.get(words.join(" "));
    if (group !== undefined && silent.has(group)) addSynopsis(group, synopsis);
  }
}

function addSynopsis(group: OpenGroup, synopsis: Synopsis): void {
  group.synopses.push({ ...synopsis, items: synopsis.items.slice(group.words.length) });
  if (synopsis.description !== undefined) group.description ??= synopsis.description;
}

/** A word that only leads to deeper commands is not one itself. */
function dropParents(groups: Map<string, OpenGroup>): void {
  const parents = new Set([...groups.values()].filter(({ words }) => words.length > 1).map(({ words }) => words[0]));
  for (const [key, { words, synopses }] of groups) {
    if (words.length === 1 && parents.has(words[0]) && synopses.length === 0) groups.delete(key);
  }
}

function leadingWords(synopsis: Synopsis, isCommand: (word: string) => boolean): readonly string[] {
  const words: string[] = [];
  for (const item of synopsis.items.slice(0, 3)) {
    if (item.kind !== "positional" || !item.bare || item.choices || !/^[A-Za-z][\w:-]*$/u.test(item.label)) break;
    if (!isCommand(item.label)) break;
    words.push(item.label);
  }
  return words;
}

/** A usage line that begins with `<format>` says that the first argument is a value, however few it may be. */
function hasOrdinaryFirst(usage: UsageFacts, groups: ReadonlyMap<string, OpenGroup>): boolean {
  const hasOwnLines = [...groups.values()].some((group) => group.synopses.length > 0);
  if (hasOwnLines) return false;
  return usage.synopses.some((synopsis) => {
    const first = synopsis.items.find((item) => item.kind === "positional");
    return first?.kind === "positional" && !first.bare && !first.choices && !commandLabel.test(first.label);
  });
}

/** Commands that differ in nothing but their name are better told as the choices of one parameter. */
function tellsApart(groups: ReadonlyMap<string, OpenGroup>): boolean {
  return [...groups.values()].some(({ synopses, facts, description }) => {
    const hasItems = synopses.some((synopsis) => synopsis.items.length > 0);
    return (
      hasItems ||
      description !== undefined ||
      facts.positions.size > 0 ||
      facts.flags.length > 0 ||
      facts.rest !== undefined
    );
  });
}
