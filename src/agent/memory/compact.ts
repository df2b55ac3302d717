import { describeCause, KitbagError } from "../../core/errors.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { MemoryCompacted } from "../events.ts";
import type { ReadyModel } from "../model-source.ts";
import { chooseUnits, type Chosen } from "./choose-units.ts";
import { markOf, withMark } from "./kitbag-mark.ts";
import type { ConversationLimits, MemoryNeed, MemoryOptions } from "./memory-options.ts";
import { createTokenCounter, cutToTokens, partsOf, textOfMessage, type TokenCounter } from "./message-text.ts";
import { makeSummary } from "./summary/make-summary.ts";
import { scoreUnits, toUnits, type Unit } from "./to-units.ts";

/** What a compaction works with, beside what it is told. */
export interface CompactParts {
  readonly options: MemoryOptions;
  readonly limits: ConversationLimits;
  /** Finds the model that is asked for summaries. */
  readonly findModel: () => ReadyModel | Promise<ReadyModel>;
  /** Tells whether the run may still ask it that. */
  readonly mayAsk: (model: ReadyModel, text: string) => boolean;
}

/** What part of the room is for the summary, and for the instructions of open skills. */
const summaryShare = 0.15;
const mostSummaryTokens = 1500;
const instructionsShare = 0.3;
const usualRecent = 4;

const header = "This is a summary of earlier messages, which are left out here. The user did not write it.";
const bareHeader = "Earlier messages are left out here.";
const instructionsHeader = "These are the instructions of the skills that are open.";
const toolsHeader = " Read with describe_tool how their tools are called.";

/** Makes a conversation shorter; `undefined` if it is as short as it can be. @throws {KitbagError} `hook-failed` if `pin` throws. */
export async function compact(need: MemoryNeed, parts: CompactParts): Promise<MemoryCompacted | undefined> {
  const { run, step, messages, model, signal } = need;
  const { options, limits, findModel, mayAsk } = parts;
  const counter = createTokenCounter(model);
  const { units, summary: earlier, summaryAt } = toUnits(messages, counter);
  const task = findTask(units, need);
  const room = toRoom(need, limits, messages, counter);
  const chosen = chooseUnits({
    units,
    scores: scoreUnits(units),
    pinned: units.map((unit) => isPinned(unit, options.pin)),
    task,
    keepRecent: options.keepRecent ?? usualRecent,
    limits,
    reserved: room.summary + room.instructions,
    gapTokens: counter.messages([gapFor("user")]),
    counter,
    query: toQuery(units, task),
  });
  const dropped = units.filter((_, index) => !chosen.has(index));
  const maxTokens = room.summary - counter.text(header) - 8;
  const known = bodyOf(earlier);
  const made =
    dropped.length === 0
      ? ({ text: cutToTokens(known, maxTokens, counter.text), how: "window" } as const)
      : await makeSummary({ units: dropped, earlier: known, maxTokens, counter, signal, options, findModel, mayAsk });
  const isWhole = dropped.length === 0 && earlier === "";
  const kept = [...chosen.values()].flat();
  const texts = [
    ...(isWhole ? [] : [made.text === "" ? bareHeader : `${header}\n\n${made.text}`]),
    ...renderInstructions(need, kept, room.instructions, counter),
  ];
  const result = putTogether({ units, chosen, summary: toSummary(texts, isWhole), summaryAt, task, run });
  const tokensBefore = counter.messages(messages);
  const tokensAfter = counter.messages(result);
  if (tokensAfter >= tokensBefore && result.length >= messages.length) return undefined;
  return {
    type: "memory-compacted",
    run,
    step,
    how: made.how,
    messages: result,
    tokensBefore,
    tokensAfter,
    ...("answer" in made && { answer: made.answer }),
    ...("error" in made && { error: made.error }),
  };
}

/** The first message of the user in this run. After a compaction it is marked; a fork has the mark of the run it was made from. */
function findTask(units: readonly Unit[], { run, earlier }: MemoryNeed): number {
  const marks = units.map(({ messages: [message] }) => message && markOf(message).task);
  const marked = marks.lastIndexOf(run);
  if (marked !== -1) return marked;
  const fresh = units.findIndex(({ role, start }) => role === "user" && start >= earlier);
  if (fresh !== -1) return fresh;
  return marks.findLastIndex((mark) => mark !== undefined);
}

/** What the task and the last message of the user say. */
function toQuery(units: readonly Unit[], task: number): string {
  const last = units.findLast(({ role }) => role === "user");
  const messages = [units[task], last].flatMap((unit) => unit?.messages ?? []);
  return [...new Set(messages.filter(({ role }) => role === "user").map(textOfMessage))].join("\n");
}

function isPinned({ messages }: Unit, pin: MemoryOptions["pin"]): boolean {
  try {
    return messages.some((message) => markOf(message).pinned === true || pin?.(message) === true);
  } catch (cause) {
    throw new KitbagError("hook-failed", { hook: "memory.pin", reason: describeCause(cause) }, { cause });
  }
}

/** What is set aside for the summary and the instructions, in tokens. */
function toRoom(
  { skills, instructions, view }: MemoryNeed,
  { tokens }: ConversationLimits,
  messages: readonly ModelMessage[],
  counter: TokenCounter,
): { readonly summary: number; readonly instructions: number } {
  // Without a limit of tokens there is still one of messages.
  const most = Math.min(tokens, counter.messages(messages));
  const summary = Math.ceil(Math.max(64, Math.min(mostSummaryTokens, most * summaryShare)));
  if (skills.length === 0) return { summary, instructions: 0 };
  const needed = counter.text(textOfInstructions(view, instructions)) + 1;
  return { summary, instructions: Math.ceil(Math.min(needed, tokens * instructionsShare)) };
}

/** What stands behind the headers of earlier summaries. */
function bodyOf(summary: string): string {
  return summary.replaceAll(header, "").replaceAll(bareHeader, "").trim();
}

/** The instructions of open skills, if the results with which they were opened are not all there. */
function renderInstructions(
  { skills, instructions, view }: MemoryNeed,
  kept: readonly ModelMessage[],
  maxTokens: number,
  { text: count }: TokenCounter,
): readonly string[] {
  const isThere = (skill: string): boolean => hasInstructions(kept, skill) || isInSystem(view, skill);
  if (skills.every(isThere)) return [];
  return [cutToTokens(textOfInstructions(view, instructions), maxTokens, count)];
}

function textOfInstructions({ tools }: MemoryNeed["view"], instructions: () => string): string {
  // With the result that is left out went the list of the tools, where that is not shown otherwise.
  const isListed = tools.every(({ name }) => name !== "describe_tool");
  return `${instructionsHeader}${isListed ? "" : toolsHeader}\n\n${instructions()}`;
}

function isInSystem({ system }: MemoryNeed["view"], skill: string): boolean {
  return system.includes(`<skill_content name="${skill}">`);
}

/** One message of the user, that says what it is: earlier messages in short, and the instructions of open skills. */
function toSummary(texts: readonly string[], isWhole: boolean): ModelMessage | undefined {
  if (texts.length === 0) return undefined;
  const content = texts.map((text) => ({ type: "text", text }) as const);
  // A message without a summary has an empty one, so that the first part is always that.
  const parts = isWhole ? [{ type: "text", text: bareHeader } as const, ...content] : content;
  return withMark({ role: "user", content: parts }, { summary: true });
}

/** Tells whether the whole result with which a skill was opened is in messages. */
function hasInstructions(messages: readonly ModelMessage[], skill: string): boolean {
  const parts = messages.filter((message) => markOf(message).cut !== true).flatMap((message) => partsOf(message));
  const ids = new Set(
    parts.flatMap(({ type, toolName, toolCallId, input }) => {
      const isOpening = type === "tool-call" && toolName === "activate_skill";
      return isOpening && (input as { readonly name?: unknown } | null)?.name === skill ? [toolCallId] : [];
    }),
  );
  // One that failed is an error. How the others are told depends on how the model sees tools.
  return parts.some(
    ({ type, toolCallId, output }) =>
      type === "tool-result" && ids.has(toolCallId) && (output?.type === "json" || output?.type === "text"),
  );
}

/** What a conversation is put together from. */
interface Pieces {
  readonly units: readonly Unit[];
  readonly chosen: Chosen;
  readonly summary: ModelMessage | undefined;
  /** Behind how many units the summary stands, if none is left out. */
  readonly summaryAt: number;
  readonly task: number;
  readonly run: string;
}

/** A message that stands for others, so that user and assistant take turns: some providers insist on it. */
function gapFor(role: "user" | "assistant"): ModelMessage {
  return withMark({ role, content: [{ type: "text", text: "(Some messages are left out here.)" }] }, { gap: true });
}

/**
 * Puts a conversation together: the chosen units, in order, with the summary in the place of the last omitted unit. It begins with a
 * user message, and joining adds no two messages of one role in a row.
 */
function putTogether({ units, chosen, summary, summaryAt, task, run }: Pieces): ModelMessage[] {
  const made: ModelMessage[] = [];
  const place = findPlace(units, chosen, summaryAt);
  let before: Unit | undefined;
  const add = (messages: readonly ModelMessage[], unit: Unit | undefined): void => {
    const [first] = messages;
    if (first === undefined) return;
    const stoodTogether = unit !== undefined && before?.end === unit.start;
    if (!stoodTogether) fillGap(made, first);
    made.push(...messages);
    before = unit;
  };

  for (const [index, unit] of units.entries()) {
    if (index === place && summary !== undefined) add([summary], undefined);
    const messages = chosen.get(index) ?? [];
    add(index === task ? messages.map((message) => withMark(message, { task: run })) : messages, unit);
  }
  if (place >= units.length && summary !== undefined) add([summary], undefined);
  return made;
}

/** Before which unit the summary stands. */
function findPlace(units: readonly Unit[], chosen: Chosen, summaryAt: number): number {
  const last = units.findLastIndex((_, index) => !chosen.has(index));
  return last === -1 ? summaryAt : last + 1;
}

function fillGap(made: ModelMessage[], next: ModelMessage): void {
  const last = made.findLast(({ role }) => role !== "system")?.role ?? "assistant";
  if (next.role !== last) return;
  if (next.role === "user") made.push(gapFor("assistant"));
  if (next.role === "assistant") made.push(gapFor("user"));
}
