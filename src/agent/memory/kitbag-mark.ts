import type { ModelMessage } from "../../models/model.ts";

/** What Kitbag says of a message, beside what providers do. */
export interface KitbagMark {
  /** It stays. */
  readonly pinned?: boolean;
  /** It is the task of this run. */
  readonly task?: string;
  /** It tells what was in messages that were left out. */
  readonly summary?: boolean;
  /** It tells in words which tools there are from now on. */
  readonly tools?: boolean;
  /** Something is missing in it. */
  readonly cut?: boolean;
  /** It tells what a memory that lasts across conversations has for the task: the ids of facts and turns. */
  readonly recalled?: readonly string[];
  /** It stands for messages that were left out, so that user and assistant take turns. */
  readonly gap?: boolean;
}

const nothing: KitbagMark = {};

/** What Kitbag says of a message: `providerOptions.kitbag`, which no provider reads. */
export function markOf({ providerOptions }: ModelMessage): KitbagMark {
  const mark: unknown = providerOptions?.["kitbag"];
  return typeof mark === "object" && mark !== null ? mark : nothing;
}

/** A copy of a message with a mark. */
export function withMark<Message extends ModelMessage>(message: Message, mark: KitbagMark): Message {
  const kitbag = { ...markOf(message), ...mark };
  return { ...message, providerOptions: { ...message.providerOptions, kitbag } };
}
