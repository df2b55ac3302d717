import type { ModelTool } from "../model.ts";
import type { Conversation, DoneCall, Exchange, ListedSkill } from "./conversation.ts";
import type { Dispatch, PlannedCall } from "./dispatch.ts";

/** Everything that a decision is made from. */
export interface Scene {
  readonly conversation: Conversation;
  /** The last one. */
  readonly exchange: Exchange;
  /** All tools that can be reached, those that were found by searching too. */
  readonly tools: readonly ModelTool[];
  readonly skills: readonly ListedSkill[];
  /** Where tools are found by searching. */
  readonly dispatch: Dispatch | undefined;
  readonly today: string | undefined;
  /** Whether some tool must be called (`toolChoice`). */
  readonly mustCall: boolean;
}

/** What to answer: a call to make, or a text that ends the answer. */
export interface Decision {
  readonly text: string;
  readonly call?: PlannedCall;
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

/** Whether a tool is about tools and skills. */
export function isMeta({ name }: Pick<ModelTool, "name">): boolean {
  return metaNames.has(name);
}

/** The calls that did something for the request. */
export function workOf({ calls }: Exchange): DoneCall[] {
  return calls.filter(({ tool }) => !isMeta({ name: tool }));
}
