import type { ModelCall, ModelTool } from "../model.ts";
import {
  parseCatalog,
  readConversation,
  type Conversation,
  type DoneCall,
  type Exchange,
  type ListedSkill,
} from "./conversation.ts";
import { isDispatched, readDispatch, withoutDispatch, type Dispatch, type PlannedCall } from "./dispatch.ts";

/** What `localModel` takes. */
export interface LocalModelOptions {
  /**
   * The day that "tomorrow" counts from, as `2026-05-03`. @default what the system text says ("Today is 2026-05-03"); if it says
   * nothing, such words are passed on as they are, or asked about
   */
  readonly today?: string;
}

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

/** Reads a question and what can be reached from it. */
export function toScene({ prompt, tools = [], toolChoice }: ModelCall, options: LocalModelOptions): Scene {
  const wanted = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  const listed = tools.filter(
    (tool): tool is ModelTool => tool.type === "function" && (wanted ?? tool.name) === tool.name,
  );
  const whole = readConversation(prompt);
  const dispatch = isDispatched(listed) ? readDispatch(whole) : undefined;
  const conversation = dispatch === undefined ? whole : withoutDispatch(whole);
  const skills = new Map(
    [...(dispatch?.skills ?? []), ...parseCatalog(whole.system)].map((skill) => [skill.name, skill]),
  );
  const today = options.today ?? /\btoday is (\d{4}-\d{2}-\d{2})/iu.exec(whole.system)?.[1];
  const isAsked = toolChoice?.type === "required" || wanted !== undefined;
  return {
    conversation,
    exchange: conversation.exchanges.at(-1) as Exchange,
    tools: dispatch === undefined ? listed : [...listed, ...dispatch.tools],
    skills: [...skills.values()],
    dispatch,
    today,
    mustCall: isAsked && listed.some((tool) => !isMeta(tool)),
  };
}
