import type { JsonObject } from "../../../core/json.ts";
import type { ModelTool } from "../../model.ts";
import type { ListedSkill } from "../conversation/parse-catalog.ts";
import type { Dispatch } from "../conversation/read-dispatch.ts";
import type { Conversation, DoneCall, Exchange } from "../conversation/read-conversation.ts";
import type { Matcher } from "../match/create-matcher.ts";
import type { Request } from "../text/read-request.ts";

/** A call that is to be made. */
export interface PlannedCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** What to answer: calls to make, or a text that ends the answer. */
export interface Decision {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

/** One thing to do. */
export interface Task {
  readonly request: Request;
  /** The tool, if it is settled. */
  readonly tool?: ModelTool;
  /** What the user said when asked for more. */
  readonly answers: readonly string[];
}

/** Everything that a decision is made from. */
export interface Scene {
  readonly conversation: Conversation;
  readonly exchange: Exchange;
  readonly tools: readonly ModelTool[];
  readonly skills: readonly ListedSkill[];
  readonly matcher: Matcher;
  /** What is known of tools that are not in the list, where they are found by searching. Those that were found are among `tools`. */
  readonly dispatch?: Dispatch;
  readonly today?: string;
  readonly mustCall: boolean;
}

/** Tools that are about tools and skills, and do nothing for a request themselves. */
const metaNames = new Set([
  "activate_skill",
  "call_tool",
  "deactivate_skill",
  "describe_tool",
  "list_skills",
  "read_skill",
  "read_skill_file",
  "search_tools",
]);

/** Tells whether a tool is about tools and skills. */
export function isMeta(name: string): boolean {
  return metaNames.has(name);
}

/** The rounds of an exchange in which something was done. */
export function workOf({ rounds }: Exchange): (readonly DoneCall[])[] {
  return rounds.map((round) => round.filter(({ tool }) => !isMeta(tool))).filter((round) => round.length > 0);
}
