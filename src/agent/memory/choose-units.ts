import { compressText } from "../../models/compress/compress-text.ts";
import type { ModelMessage } from "../../models/model.ts";
import { withMark } from "./kitbag-mark.ts";
import type { ConversationLimits } from "./memory-options.ts";
import { type AnyPart, cutToTokens, partsOf, textOfResult, toJsonText, type TokenCounter } from "./message-text.ts";
import { important, type Unit } from "./to-units.ts";

/** What there is to choose from, and how much of it may stay. */
export interface Choice {
  readonly units: readonly Unit[];
  /** By unit. */
  readonly scores: readonly number[];
  readonly pinned: readonly boolean[];
  /** Which unit is the task; -1 if none is. */
  readonly task: number;
  readonly keepRecent: number;
  readonly limits: ConversationLimits;
  /** Tokens that the summary and the instructions of skills need. */
  readonly reserved: number;
  /** What a message costs that stands for others which are left out. */
  readonly gapTokens: number;
  readonly counter: TokenCounter;
  /** What the conversation is about: of long results, what says the most about it stays. */
  readonly query: string;
}

/** What stays of a conversation, by unit: the messages as they are, or cut. */
export type Chosen = ReadonlyMap<number, readonly ModelMessage[]>;

/** So full is a conversation at most after a compaction, so that the next one is a while off. */
const target = 0.6;
/** So full may it be with the last messages that are to stay in any case. */
const recentTarget = 0.8;
/** Of what is free below the target, this is for the last messages before the important ones get theirs. */
const recentShare = 0.6;
/** No single unit has more than this of the room. */
const lastShare = 0.5;
const mustShare = 0.25;
const otherShare = 0.2;
/** What is left of a unit must have so many tokens to be worth it. */
const leastCut = 48;

/**
 * Chooses what stays: system messages, the task, what is pinned and the last unit; then the last few, the important ones and more of
 * the last. If even the first do not fit they are cut, and at last left out.
 */
export function chooseUnits(choice: Choice): Chosen {
  // The first time nothing is cut that fits.
  for (let share = 4; share > 1 / 64; share /= 2) {
    const choosing = new Choosing(choice);
    if (choosing.takeNeeded(share)) return choosing.takeMore();
  }
  const choosing = new Choosing(choice);
  choosing.takeIfPossible();
  return choosing.chosen;
}

class Choosing {
  readonly chosen = new Map<number, readonly ModelMessage[]>();
  readonly #choice: Choice;
  /** What may be used, and what is. A summary has a gap on each side. */
  readonly #room: number;
  readonly #most: number;
  #tokens = 0;
  #messages = 3;

  constructor(choice: Choice) {
    this.#choice = choice;
    this.#room = choice.limits.tokens - choice.reserved - 2 * choice.gapTokens;
    this.#most = choice.limits.messages;
  }

  /** Takes what must stay; answers whether there was room. */
  takeNeeded(share: number): boolean {
    const { units, task, pinned } = this.#choice;
    const last = units.length - 1;
    if (last >= 0 && !this.#take(last, { cap: lastShare * share })) return false;
    if (task >= 0 && !this.#take(task, { cap: mustShare * share })) return false;
    for (const [index, { role }] of units.entries()) {
      if (role === "system" && !this.#take(index, { cap: mustShare * share })) return false;
    }
    for (let index = last; index >= 0; index--) {
      if (pinned[index] === true) this.#take(index, { cap: mustShare * share, squeeze: true });
    }
    return true;
  }

  /** The same, without insisting. */
  takeIfPossible(): void {
    const { units, task } = this.#choice;
    for (const index of [units.length - 1, task]) {
      if (index >= 0) this.#take(index, { cap: mustShare, squeeze: true });
    }
  }

  takeMore(): Chosen {
    const { keepRecent } = this.#choice;
    let count = 0;
    this.#takeBack(
      recentTarget,
      ({ messages }) => (count += messages.length) <= keepRecent || count === messages.length,
    );
    const fill = Math.max(this.#tokens / this.#room, this.#messages / this.#most);
    if (fill >= target) return this.chosen;
    this.#takeBack(fill + (target - fill) * recentShare, () => true);
    this.#takeImportant();
    this.#takeBack(target, () => true);
    return this.chosen;
  }

  /** Takes units from the last one back while they fit and `isWanted`, without leaving one out. */
  #takeBack(fill: number, isWanted: (unit: Unit) => boolean): void {
    const { units } = this.#choice;
    for (let index = units.length - 1; index >= 0; index--) {
      const unit = units[index] as Unit;
      if (!isWanted(unit) || !this.#take(index, { cap: otherShare, fill })) return;
    }
  }

  #takeImportant(): void {
    const { scores, units } = this.#choice;
    const found = units.flatMap((_, index) => ((scores[index] ?? 0) >= important ? [index] : []));
    found.sort((left, right) => (scores[right] ?? 0) - (scores[left] ?? 0) || right - left);
    for (const index of found) this.#take(index, { cap: otherShare, fill: target });
  }

  #take(index: number, { cap, fill = 1, squeeze = false }: Taking): boolean {
    const unit = this.#choice.units[index];
    if (unit === undefined || this.chosen.has(index)) return true;
    const { counter, gapTokens, query } = this.#choice;
    const gap = this.#gapBehind(index);
    const count = unit.role === "system" ? 0 : unit.messages.length + gap;
    if (this.#messages + count > this.#most * fill) return false;
    const room = Math.floor(this.#room * fill - this.#tokens - gap * gapTokens);
    const most = Math.floor(Math.min(unit.tokens, this.#room * cap));
    const allowed = squeeze ? Math.min(most, room) : most;
    const kept = allowed > room ? undefined : cutUnit(unit, allowed, { counter, query });
    if (kept === undefined) return false;
    this.chosen.set(index, kept);
    this.#tokens += counter.messages(kept) + gap * gapTokens;
    this.#messages += count;
    return true;
  }

  /** What comes behind a unit may be left out: then there is one message more. */
  #gapBehind(index: number): number {
    const { units } = this.#choice;
    const next = units[index + 1];
    if (next === undefined) return 0;
    return this.chosen.has(index + 1) && units[index]?.end === next.start ? 0 : 1;
  }
}

/** The messages of a unit, cut if need be; `undefined` if too little would be left of them. */
function cutUnit(unit: Unit, maxTokens: number, cutting: Cutting): readonly ModelMessage[] | undefined {
  if (unit.tokens <= maxTokens) return unit.messages;
  return maxTokens < leastCut ? undefined : cutMessages(unit.messages, maxTokens, cutting);
}

/** How parts of messages are made shorter. */
type Cutting = Pick<Choice, "counter" | "query">;

interface Taking {
  /** The most that the unit may have of the room; more is cut. */
  readonly cap: number;
  /** How full it may become. */
  readonly fill?: number;
  /** Whether it is cut to what is left. */
  readonly squeeze?: boolean;
}

/** No part is cut to less than this. */
const leastPart = 8;

/** Cuts the longest parts of messages until all are within so many tokens; `undefined` if that cannot be. */
function cutMessages(
  messages: readonly ModelMessage[],
  maxTokens: number,
  cutting: Cutting,
): readonly ModelMessage[] | undefined {
  for (let most = maxTokens; most >= leastPart; most = Math.floor(most * 0.8)) {
    const made = messages.map((message) => cutParts(message, most, cutting));
    if (cutting.counter.messages(made) <= maxTokens) return made;
  }
  return undefined;
}

/** A message in which no part has more than so many tokens: the same one if nothing had, and else one that says that it was cut. */
function cutParts(message: ModelMessage, most: number, cutting: Cutting): ModelMessage {
  const { counter } = cutting;
  if (typeof message.content === "string") {
    return { ...message, content: cutToTokens(message.content, most, counter.text) } as ModelMessage;
  }
  const parts = partsOf(message);
  const content = parts.flatMap((part) => cutPart(part, most, cutting));
  const isWhole = content.length === parts.length && content.every((part, index) => part === parts[index]);
  return isWhole ? message : withMark({ ...message, content } as unknown as ModelMessage, { cut: true });
}

function cutPart(part: AnyPart, most: number, cutting: Cutting): readonly AnyPart[] {
  const { counter } = cutting;
  const { text } = counter;
  switch (part.type) {
    case "text": {
      const left = cutToTokens(String(part.text), most, text);
      return [left === part.text ? part : { ...part, text: left }];
    }
    case "reasoning":
      // It is signed: half of it is worth nothing.
      return text(String(part.text)) <= most ? [part] : [];
    case "tool-call": {
      const input = toJsonText(part.input);
      return text(input) <= most ? [part] : [{ ...part, input: { cut: cutToTokens(input, most, text) } }];
    }
    case "tool-result": {
      const output = cutOutput(part, most, cutting);
      return [output === part.output ? part : { ...part, output }];
    }
    case "file":
    case "reasoning-file": {
      const note = { type: "text", text: `[A file (${String(part.mediaType)}) is left out here]` };
      return counter.messages([{ role: "user", content: [part] } as unknown as ModelMessage]) <= most ? [part] : [note];
    }
    case undefined:
    default:
      return text(toJsonText(part)) <= most ? [part] : [];
  }
}

function cutOutput(part: AnyPart, most: number, { counter, query }: Cutting): NonNullable<AnyPart["output"]> {
  const { text: count } = counter;
  const { output = {} } = part;
  const { type = "", value } = output;
  const isError = type.startsWith("error");
  if (type === "execution-denied") return { type, reason: cutToTokens(textOfResult(part), most, count) };
  if (count(typeof value === "string" ? value : toJsonText(value)) <= most) return output;
  const note = type === "content" ? "\n[Files are left out here]" : "";
  return {
    type: isError ? "error-text" : "text",
    value: cutResult(`${textOfResult(part)}${note}`, most, { counter, query }),
  };
}

/** With less, beginning and end say more than single lines. */
const leastLines = 96;

/** A result has lines or records: what says the most about the task stays, where there is room for some of them. */
function cutResult(text: string, most: number, { counter, query }: Cutting): string {
  if (most < leastLines) return cutToTokens(text, most, counter.text);
  const made = compressText(text, { maxTokens: most, query, model: counter.model });
  return made.of >= 8 && made.kept > 1 ? made.text : cutToTokens(text, most, counter.text);
}
