import type { ModelTool } from "../../model.ts";
import type { Request } from "../text/read-request.ts";
import { toStem, toStems } from "../text/stems.ts";
import { findTold } from "../text/told-message.ts";
import { type Token, wordAt } from "../text/token.ts";
import { changes, hasStrangeVerb, hasSwitch, reads, verbsOf } from "./tool-verbs.ts";

/** Things that cannot be taken back. Words in one group are said for one another. */
const groups = [
  "delete remove erase drop discard trash rm unlink",
  "wipe purge destroy clear truncate empty",
  "kill terminate stop shutdown shut",
  "overwrite replace",
  "reset revert rollback undo",
  "uninstall",
  "revoke",
  "pay purchase buy order transfer charge",
  "send mail email message reply",
  "publish deploy release post push",
  "format",
  "cancel",
].map((group) => new Set(group.split(" ").flatMap(toStem)));

/** "Formats a date" and "sends back" destroy nothing: only these count wherever they stand. */
const alwaysDangerous = new Set([
  ...(groups[0] as Set<string>),
  ...(groups[1] as Set<string>),
  ...toStems("uninstall revoke kill overwrite"),
]);

const sending = groups.find((group) => group.has("send"));

function dangersOf(tool: ModelTool): readonly ReadonlySet<string>[] {
  const own = new Set(toStems(tool.name));
  const verb = verbsOf(tool).find((stem) => reads.has(stem) || isCommandVerb(stem)) ?? "";
  // What lists orders orders nothing, and neither does what cancels one.
  const names = toStems(ownName(tool));
  const isVerb = (stem: string): boolean =>
    reads.has(stem) || changes.has(stem) || groups.some((group) => group.has(stem));
  const isSaid = groups.some((group) => group.has(verb));
  const said = reads.has(verb) ? [] : isSaid || isVerb(names[0] ?? "") ? names.slice(0, 1).filter(isVerb) : names;
  return groups.filter((group) =>
    [...group].some((stem) =>
      alwaysDangerous.has(stem)
        ? own.has(stem) || verb === stem
        : (said.includes(stem) || verb === stem) && !own.has("text"),
    ),
  );
}

/** Tells whether a tool may do something that cannot be taken back, by its name and the first word of its description. */
export function isDangerous(tool: ModelTool): boolean {
  return dangersOf(tool).length > 0;
}

/**
 * Tells whether a tool changes things, by the verbs that its description and its name begin with: models are not shown its annotations.
 * If nobody knows the verb, it is taken for one that does; if there is none, the parameters may tell.
 */
export function isChanging(tool: ModelTool): boolean {
  let found = changing.get(tool);
  if (found === undefined) {
    found = findChanging(tool);
    changing.set(tool, found);
  }
  return found;
}

const changing = new WeakMap<ModelTool, boolean>();

function findChanging(tool: ModelTool): boolean {
  if (isDangerous(tool)) return true;
  if (isComputing(tool)) return false;
  const verbs = verbsOf(tool);
  if (verbs.some((verb) => changes.has(verb))) return true;
  return !verbs.some((verb) => reads.has(verb)) && (hasSwitch(tool) || hasStrangeVerb(tool));
}

/** Tells whether a tool only looks for something, by the same words. */
export function isReading(tool: ModelTool): boolean {
  return !isChanging(tool) && verbsOf(tool).some((verb) => reads.has(verb));
}

/** "Adds two numbers", "Replaces words in a text": what comes out is new, and nothing that was there is changed. */
function isComputing({ description = "" }: ModelTool): boolean {
  const start = description.slice(0, 200);
  const isValue = /\b(?:numbers?|sum|texts?|strings?|dates?|words?)\b/iu.test(start);
  return (
    isValue &&
    computing.test(start) &&
    !/\b(?:files?|folders?|lists?|tasks?|database|table|records?|calendar)\b/iu.test(start)
  );
}

const computing = /^(?:adds?|replaces?|formats?|changes?|appl(?:y|ies)|increases?|decreases?|turns?|moves?)\b/iu;

function ownName({ name }: ModelTool): string {
  return name.slice(name.indexOf("__") + 1);
}

/** Tells whether a stem is that of a verb with which people have something changed. */
export function isCommandVerb(stem: string): boolean {
  return changes.has(stem) || groups.some((group) => group.has(stem));
}

/** What a request says about doing what a dangerous tool does. */
export type DangerWish = "asked" | "denied" | "unsaid";

/** Finds out whether a request asks in so many words for what a dangerous tool does: as a command, not in passing. */
export function wishOf({ tokens }: Request, tool: ModelTool): DangerWish {
  if (tokens.some(({ text }) => text === tool.name)) return "asked";
  const isTold = findTold({ tokens }) !== undefined;
  const wishes = dangersOf(tool).map((group) => (isTold && givesMessages(group) ? "asked" : wishFor(tokens, group)));
  if (wishes.includes("denied")) return "denied";
  return wishes.every((wish) => wish === "asked") ? "asked" : "unsaid";
}

function givesMessages(group: ReadonlySet<string>): boolean {
  return group === sending || group.has("post");
}

/** Tells whether a request begins with what a tool sends: "text +41 … saying …". It may also be about such a thing: the values must tell. */
export function beginsWithSent({ tokens }: Request, tool: ModelTool): boolean {
  const isSender = dangersOf(tool).every((group) => group === sending);
  const [sent = ""] = (tool.description ?? "").slice(0, 60).split(/\b(?:to|with|by|for|via|from)\b/iu);
  const first = tokens.find(({ word }) => word !== "please");
  return isSender && first?.kind === "word" && toStems(sent).includes(first.stem);
}

function wishFor(tokens: readonly Token[], group: ReadonlySet<string>): DangerWish {
  const places = tokens.flatMap(({ kind, stem }, at) => (kind === "word" && group.has(stem) ? [at] : []));
  const isDenied = (at: number): boolean => [1, 2, 3].some((back) => denials.test(wordAt(tokens, at - back)));
  if (places.some(isDenied)) return "denied";
  // "deleted" and "deleting" tell of it; a command stands at the beginning, or behind a word that leads to one.
  const isCommand = (at: number): boolean =>
    !/(?:ed|ing)$/u.test(wordAt(tokens, at)) &&
    (at === 0 || leaders.test(wordAt(tokens, at - 1)) || /^you (?:must|should)$/u.test(wordsBefore(tokens, at)));
  return places.some(isCommand) ? "asked" : "unsaid";
}

function wordsBefore(tokens: readonly Token[], at: number): string {
  return `${wordAt(tokens, at - 2)} ${wordAt(tokens, at - 1)}`;
}

const denials = /^(?:not|don't|dont|never|without|no|won't|shouldn't|cannot|can't)$/u;
const leaders = /^(?:please|and|then|to|you|just|now|also|i'll|let's|lets|kindly|finally|okay|ok|so)$/u;

/** Tells whether a request asks about something, and does not ask for something to be done: "any open tickets?" opens none. */
export function asksAbout({ text, tokens }: Request): boolean {
  const first = wordAt(tokens, 0);
  const second = wordAt(tokens, 1);
  if (/^(?:what|what's|which|who|whose|when|where|why|how)$/u.test(first)) return wordAt(tokens, 1) !== "about";
  // "should we restart it?" asks; "could you restart it?" does not.
  const isPondered = /^(?:should|shall|must|may|might|would|could|can|will)$/u.test(first) && second !== "you";
  if (isPondered && /\?\s*$/u.test(text)) return true;
  const isExplained = first === "explain" || (first === "tell" && wordAt(tokens, 2) === "why");
  return (
    isExplained ||
    (/\?\s*$/u.test(text) && /^(?:is|are|was|were|do|does|did|has|have|am|any|isn't|aren't)$/u.test(first))
  );
}

/** Tells whether a request is a command to change something ("remind me …", "set the …"), and a tool only reads: not if that is its own word. */
export function asksToChange({ tokens }: Request, tool: ModelTool): boolean {
  const at = tokens.findIndex(({ word }) => !polite.test(word));
  const stem = tokens[at]?.stem ?? "";
  const isCommand =
    isCommandVerb(stem) && /^(?:me|us|the|a|an|my|our|this|that|it|them)$/u.test(wordAt(tokens, at + 1));
  return isCommand && isReading(tool) && !verbsOf(tool).includes(stem);
}

const polite = /^(?:please|can|could|would|you|kindly|now|also|then|and)$/u;

const extracting: ReadonlySet<string> = new Set(toStems("extract"));
const unpacking: ReadonlySet<string> = new Set(toStems("unpack unzip untar decompress"));

/** Tells whether a request wants something deleted or unpacked, and a tool does not do that: "remove task 3" is not for what finishes tasks. */
export function asksForOther({ tokens }: Request, tool: ModelTool): boolean {
  const at = tokens.findIndex(({ stem }) => stem !== "");
  const group = [...groups.slice(0, 2), unpacking].find((stems) => stems.has(tokens[at]?.stem ?? ""));
  if (group === undefined || wishFor(tokens, group) === "denied") return false;
  // What tells about unpacking unpacks nothing.
  const done = (tool.description ?? "").slice(0, 500).replaceAll(/\b(?:about|without|before|when) \w+ing\b/giu, "");
  const own = new Set(toStems(`${tool.name} ${done}`));
  // Whoever extracts an archive unpacks it.
  const isExtracting = group === unpacking && verbsOf(tool).some((verb) => extracting.has(verb)) && own.has("archiv");
  return !isExtracting && ![...group].some((stem) => own.has(stem));
}
