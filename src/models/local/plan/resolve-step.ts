import type { ModelTool } from "../../model.ts";
import type { ListedSkill } from "../conversation/parse-catalog.ts";
import type { DoneCall } from "../conversation/read-conversation.ts";
import { parametersOf } from "../fill/parameter.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { splitName, type Match, type Matcher } from "../match/create-matcher.ts";
import {
  asksAbout,
  asksForOther,
  asksToChange,
  beginsWithSent,
  isChanging,
  isDangerous,
  wishOf,
} from "../match/danger.ts";
import { forbiddenVerbs, isDeclined, isExclaimed, isForbidden } from "../match/forbidden.ts";
import { readsOtherFormat } from "../match/formats.ts";
import { keepsThing, keptThing, withoutKept } from "../match/kept-thing.ts";
import { madeUpThing, makesThing } from "../match/made-up.ts";
import { scoreInstructions } from "../match/score-instructions.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";
import { isCode, type Token } from "../text/token.ts";
import { askedBonus, barOf, bars } from "./bars.ts";
import { findObjection } from "./find-objection.ts";
import { isMeta } from "./decision.ts";
import { findMeasured } from "./find-measured.ts";
import { fitTool, type Fit } from "./fit-tool.ts";
import { isRunAsked } from "./is-run-asked.ts";

/** What to do for one step. */
export type Resolution =
  | { readonly type: "call"; readonly fit: Fit }
  | { readonly type: "ask"; readonly fit: Fit }
  /** It would do something else than it is asked to: `said` is what of the request it has no place for. */
  | { readonly type: "narrower"; readonly fit: Fit; readonly said: string }
  /** It goes on with the last call, which has no place for what is new. */
  | { readonly type: "placeless"; readonly fit: Fit }
  | { readonly type: "open"; readonly skill: ListedSkill; readonly score: number }
  | { readonly type: "offer"; readonly fits: readonly Fit[] }
  /** The request says that something is not to be done. */
  | { readonly type: "declined" }
  | { readonly type: "none" };

/** What is there to choose from. */
export interface StepPlace {
  readonly matcher: Matcher;
  readonly tools: readonly ModelTool[];
  /** Calls that were made before, the oldest first. */
  readonly calls: readonly DoneCall[];
  /** Whether this step follows another one of the same request. */
  readonly isChained: boolean;
  /** Skills that were opened for this step. */
  readonly opened: ReadonlySet<string>;
  /** What skills say about the use of their tools, as far as it was read in this conversation. */
  readonly instructions: ReadonlyMap<string, string>;
  /** The skill whose tool was called last: what is said next is likely about it. */
  readonly recent: string | undefined;
  /** How well a skill must fit to be opened: opening one does no harm, taking a request apart because of one does. */
  readonly skillBar: number;
  readonly canOpen: (skill: string) => boolean;
}

/** How many tools are filled to see which one fits. */
const closelyLooked = 8;

/** Nor are more of them tried if no word says which one. */
const mostForms = 60;

/** Decides what to do for one step of a request. */
export function resolveStep(request: Request, place: StepPlace): Resolution {
  if (isDeclined(request)) return { type: "declined" };
  if (isExclaimed(request)) return { type: "none" };
  const canBeFor = createFilter(request);
  const madeUp = madeUpThing(request);
  const matches = place.matcher.rank(withoutKept(request));
  const found = matches.flatMap(({ item: { tool }, score }) => (tool === undefined ? [] : [{ tool, score }]));
  // A tool that shares no word with the request may still be the one that the instructions of its skill name for it.
  const known = new Set(found.map(({ tool }) => tool));
  const others = place.tools.filter(
    (tool) => !known.has(tool) && (place.instructions.has(splitName(tool.name)[0]) || openedBonus(tool, place) > 0),
  );
  const fits = [...found, ...others.map((tool) => ({ tool, score: 0 }))]
    .map(({ tool, score }) => ({ tool, score: score + bonusOf(tool, request, place) }))
    .toSorted((left, right) => right.score - left.score)
    .filter(({ tool }) => canBeFor(tool))
    .slice(0, closelyLooked)
    .map(({ tool, score }) => fitTool(request, tool, score, place))
    .map((fit) => (isRepetition(fit, place) ? { ...fit, score: fit.score - 2 } : fit))
    .toSorted((left, right) => right.score - left.score);
  const skills = matches.filter(
    ({ item, score }) =>
      item.skill !== undefined &&
      (madeUp === undefined || [...madeUp].some((stem) => item.weights.has(stem))) &&
      score >= (place.opened.size > 0 ? bars.sure : place.skillBar) &&
      place.canOpen(item.skill.name),
  );
  const isQuestion = asksAbout(request);
  const codes = request.tokens.flatMap((token, at) => (isCode(token) ? [at] : []));
  // What has no use for `ORD-2207` is not about it.
  const isAllowed = (fit: Fit): boolean =>
    codes.every((at) => fit.filled.covered.has(at) || isWordOf(fit.tool, request.tokens[at])) &&
    isAskedFor(request, fit) &&
    isRunAsked(request, fit) &&
    !(isQuestion && isChanging(fit.tool));
  const opened = matches.filter(({ item }) => item.skill !== undefined && place.opened.has(item.skill.name));
  const isMeant = opened.some(({ score }) => score >= bars.meant);
  const best = preferComplete(request, fits.filter(isAllowed));
  // What cannot be taken back is no answer to a question.
  const offered = isQuestion ? fits.filter(({ tool }) => !isDangerous(tool)) : fits;
  const chosen = choose({ fits: offered, best, isMeant }, skills, place);
  const only = chosen.type === "offer" && !isQuestion ? onlyTaker(fits.filter(isAllowed), request, place) : undefined;
  const resolution = only === undefined ? withForms(request, chosen, place) : ({ type: "call", fit: only } as const);
  const said = resolution.type === "call" ? findObjection(request, resolution.fit) : undefined;
  return said === undefined || resolution.type !== "call" ? resolution : { ...resolution, type: "narrower", said };
}

/** Tells of each tool whether the request may be for it at all: so that it is neither called nor offered. */
function createFilter(request: Request): (tool: ModelTool) => boolean {
  const forbidden = forbiddenVerbs(request);
  const madeUp = madeUpThing(request);
  const kept = keptThing(request);
  return (tool) =>
    !isForbidden(tool, forbidden) &&
    (!isDangerous(tool) || wishOf(request, tool) !== "denied") &&
    !readsOtherFormat(request, tool) &&
    (madeUp === undefined || makesThing(tool, madeUp)) &&
    (kept === undefined || keepsThing(tool, kept));
}

/** What cannot be taken back is asked for in so many words, or by everything that it needs: "text +41 … saying …". */
function isAskedFor(request: Request, { tool, filled }: Fit): boolean {
  if (!isDangerous(tool) || wishOf(request, tool) === "asked") return true;
  const isTold = filled.missing.length === 0 && filled.guessed.size === 0;
  const required = parametersOf(tool).filter(({ isRequired }) => isRequired);
  return isTold && required.length > 1 && beginsWithSent(request, tool);
}

/** Of a skill that was opened for this, the one tool that has a use for what was said: for the others it would be lost. */
function onlyTaker(fits: readonly Fit[], request: Request, place: StepPlace): Fit | undefined {
  const own = fits.filter(({ tool }) => openedBonus(tool, place) > 0 && !asksForOther(request, tool));
  const takers = own.filter(({ filled }) => filled.covered.size > 0);
  const [only] = takers;
  if (only === undefined || takers.length > 1 || own.length < 2 || only.filled.missing.length > 0) return undefined;
  // All but the word that says what to do.
  const lost = request.tokens.filter(
    ({ stem, kind }, at) => (stem !== "" || kind !== "word") && !only.filled.covered.has(at),
  );
  return lost.filter(({ kind }) => kind !== "mark").length <= 1 ? only : undefined;
}

function isWordOf(tool: ModelTool, token: Token | undefined): boolean {
  return toolWordsOf(tool).ownStems.has(toStems(token?.text ?? "").at(-1) ?? "");
}

/** A step that says nothing new to the tool of the step before it is hardly for that tool. */
function isRepetition({ tool, filled }: Fit, { isChained, calls }: StepPlace): boolean {
  return isChained && filled.used.size === 0 && calls.at(-1)?.tool === tool.name;
}

/** A tool that has all it needs is more likely meant than one that is a little nearer and lacks something. */
function preferComplete(request: Request, [best, ...others]: readonly Fit[]): Fit | undefined {
  if (best === undefined) return undefined;
  if (best.filled.missing.length === 0)
    return others.find((other) => saysMore(request, other, best) || takesMore(other, best)) ?? best;
  const isWhole = ({ tool, filled, score }: Fit): boolean =>
    filled.missing.length === 0 &&
    filled.guessed.size === 0 &&
    Object.keys(filled.input).length > 1 + Object.keys(best.filled.input).length &&
    score >= best.score - 2.5 &&
    !isChanging(tool);
  return others.find(isWhole) ?? best;
}

/** What has a use for all that was said, and only reads, is more likely meant than what would leave a file or a day out. */
function takesMore(other: Fit, best: Fit): boolean {
  const { missing, guessed } = other.filled;
  const isWhole = missing.length === 0 && guessed.size === 0 && other.missed === 0 && !isChanging(other.tool);
  return best.missed > 0 && isWhole && other.score >= best.score - 1.5;
}

/** "deactivate user 77" gives one tool a number, and another the number and what to do with it. */
function saysMore({ tokens }: Request, other: Fit, best: Fit): boolean {
  const { missing, guessed, used } = other.filled;
  const isCertain = missing.length === 0 && guessed.size === 0 && best.filled.guessed.size === 0;
  const isMore = used.size > best.filled.used.size && [...best.filled.used].every((at) => used.has(at));
  const verb = tokens.findIndex(({ stem }) => stem !== "");
  return (
    isCertain &&
    isMore &&
    used.has(verb) &&
    !best.filled.used.has(verb) &&
    best.filled.used.size > 0 &&
    other.score >= best.score - 1.5
  );
}

/** If no word leads anywhere, what a value looks like may: "wake me at 6:45" is for something that takes a time. It is offered, unless the form is that of one tool alone. */
function withForms(request: Request, resolution: Resolution, place: StepPlace): Resolution {
  const isCoded = request.tokens.some(isCode);
  if (resolution.type !== "none" && !(resolution.type === "offer" && isCoded)) return resolution;
  const canBeFor = createFilter(request);
  const tools = place.tools
    .slice(0, mostForms)
    .filter((tool) => !isMeta(tool.name) && !isDangerous(tool) && canBeFor(tool));
  const measured = findMeasured(request, tools, (tool) => fitTool(request, tool, 0, place));
  if (measured !== undefined)
    return measured.isNamed ? { type: "call", fit: measured.fit } : { type: "offer", fits: [measured.fit] };
  const fits = tools
    .map((tool) => fitTool(request, tool, 0, place))
    .filter(({ filled, score }) => {
      const isWhole = filled.missing.length === 0 && filled.guessed.size === 0;
      // A number may be anything.
      return isWhole && score > 0 && [...filled.used].some((at) => hasOwnForm(request.tokens[at]));
    })
    .toSorted((left, right) => right.score - left.score);
  const isCodeOf = ({ shown, filled }: Fit): boolean =>
    shown > 0 && request.tokens.some((token, at) => isCode(token) && filled.used.has(at));
  const reading = fits.filter(({ tool }) => !isChanging(tool));
  // What is the number of one thing only is asked about for that thing; and so is what only one has a use for.
  const only = onlyOne(reading.filter(isCodeOf)) ?? onlyOne(reading.filter(takesAll));
  if (only !== undefined) return { type: "call", fit: only };
  return resolution.type === "offer" || fits.length === 0 ? resolution : { type: "offer", fits: fits.slice(0, 2) };
}

function onlyOne([first, ...others]: readonly Fit[]): Fit | undefined {
  return others.length === 0 ? first : undefined;
}

/** "cpu of web-01": several values, a use for each of them, and nothing else. */
function takesAll({ filled, missed, loose }: Fit): boolean {
  return missed === 0 && loose === 0 && new Set([...filled.places.values()].map(({ from }) => from)).size > 1;
}

function hasOwnForm(token: Token | undefined): boolean {
  return (
    token !== undefined &&
    token.kind !== "number" &&
    token.kind !== "mark" &&
    (token.kind !== "word" || token.stem !== "")
  );
}

interface Found {
  /** Those that may be offered, the best first. */
  readonly fits: readonly Fit[];
  /** The best that may be called without asking: what cannot be taken back is only done if it was asked for. */
  readonly best: Fit | undefined;
  /** Whether the skill that was opened is certainly the right one. */
  readonly isMeant: boolean;
}

function choose({ fits, best, isMeant }: Found, skills: readonly Match[], place: StepPlace): Resolution {
  const [skill] = skills;
  const listed = skill?.item.skill;
  const isFit =
    best !== undefined &&
    best.score + askedBonus(best) >= barOf(best, { ...place, isMeant, bonus: openedBonus(best.tool, place) });
  if (skill !== undefined && listed !== undefined && isBetter(skill, best, isFit))
    return { type: "open", skill: listed, score: skill.score };
  if (isFit) return { type: best.filled.missing.length === 0 ? "call" : "ask", fit: best };
  const offered = fits.filter(({ score }) => score >= bars.near).slice(0, 3);
  return offered.length === 0 ? { type: "none" } : { type: "offer", fits: offered };
}

/** Tells whether a skill fits better than the best tool that is there. */
function isBetter({ score }: Match, best: Fit | undefined, isFit: boolean): boolean {
  if (best === undefined || !isFit) return true;
  return score > best.score + (best.filled.missing.length === 0 ? 0.5 : -0.3);
}

/** Whoever writes the name of a tool means it. */
function namedBonus({ name }: ModelTool, { tokens }: Request): number {
  const own = splitName(name)[1] ?? name;
  const isNamed = tokens.some(({ kind, text, value }) => {
    const said = kind === "quoted" ? value : text;
    return said === name || (said === own && /[_-]/u.test(own));
  });
  return isNamed ? 4 : 0;
}

function bonusOf(tool: ModelTool, request: Request, place: StepPlace): number {
  const known =
    openedBonus(tool, place) + namedBonus(tool, request) + scoreInstructions(tool, request, place.instructions);
  // All others were left out.
  const kept = keptThing(request) === undefined ? 0 : 1;
  const recent = place.recent !== undefined && splitName(tool.name)[0] === place.recent ? 0.8 : 0;
  const other = asksForOther(request, tool) ? 4 : asksToChange(request, tool) ? 1 : 0;
  return known + recent + kept - other;
}

/** The tools of a skill that was opened for this are most likely meant. */
function openedBonus({ name }: ModelTool, { opened, instructions }: StepPlace): number {
  const [owner, own = owner] = splitName(name);
  for (const skill of opened) {
    if (owner === skill) return 3;
    const text = instructions.get(skill) ?? "";
    if (text.includes(`${owner}/${own}`) || text.includes(name)) return 2.5;
  }
  return 0;
}
