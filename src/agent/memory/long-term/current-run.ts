import { AsyncLocalStorage } from "node:async_hooks";

import type { ModelMessage } from "../../../models/model.ts";
import { markOf } from "../kitbag-mark.ts";
import { partsOf, textOfMessage, textOfResult } from "../message-text.ts";
import type { MemorySource, MemoryTrust } from "./memory-rows.ts";
import { toRecallWords } from "./rank-texts.ts";

/** The run in which something is remembered. */
export interface CurrentRun {
  readonly run: string;
  readonly conversation: string | undefined;
  /** What was said in it so far. */
  messages(): readonly ModelMessage[];
}

/**
 * Tells the tools of the memory from which run they are called. A value that is passed along would have to be passed by every tool
 * that calls them; a tool that is called outside of a run has none.
 */
const runs = new AsyncLocalStorage<CurrentRun>();

/** Does `work`, which is part of a run. */
export function duringRun<Result>(run: CurrentRun, work: () => Result): Result {
  return runs.run(run, work);
}

/** Where something is from that is remembered now. */
export function currentSource(by: string): MemorySource {
  const { run, conversation } = runs.getStore() ?? {};
  return { ...(run !== undefined && { run }), ...(conversation !== undefined && { conversation }), by };
}

/** Keys that say what the user said in other words: "call me Ada" is a name. */
export const plainKeys: ReadonlySet<string> = new Set(["name", "lives in", "works at", "works as"]);

/** What of the words of a fact must be in the answers of tools for it to be theirs. */
const readShare = 0.6;

/**
 * Who said a text: the user, if one message of the user in this run has all its words; else the tools, if their answers have most of
 * them; else the model. Outside of a run nothing is known, and it is the model's.
 */
export function judgeTrust(fact: string): MemoryTrust {
  const messages = runs.getStore()?.messages() ?? [];
  const words = new Set(toRecallWords(fact));
  if (words.size === 0) return "model";
  if (messages.some((message) => isOfUser(message) && shareIn(words, textOfMessage(message)) === 1)) return "user";
  const read = messages.flatMap((message) => (message.role === "tool" ? partsOf(message).map(textOfResult) : []));
  return shareIn(words, read.join("\n")) >= readShare ? "tool" : "model";
}

function shareIn(words: ReadonlySet<string>, text: string): number {
  const said = new Set(toRecallWords(text));
  return [...words].filter((word) => said.has(word)).length / words.size;
}

/** A message that the user wrote, and not Kitbag. */
export function isOfUser(message: ModelMessage): boolean {
  const { recalled, summary, tools, gap } = markOf(message);
  return message.role === "user" && recalled === undefined && [summary, tools, gap].every((mark) => mark !== true);
}
