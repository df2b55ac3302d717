import type { ModelMessage } from "../../../models/model.ts";

type Parts = Exclude<ModelMessage["content"], string>;

/**
 * Messages of several runs, in which no two calls have one id: runs that went on at the same time did not know of each other, and small
 * models count from the beginning. The same messages, if there is none.
 */
export function separateCalls(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const used = new Set<string>();
  let renamed: ReadonlyMap<string, string> = new Map();
  return messages.map((message) => {
    if (message.role === "assistant") {
      renamed = rename(message.content, used);
      for (const id of idsOf(message.content)) used.add(renamed.get(id) ?? id);
    }
    const isTouched = renamed.size > 0 && (message.role === "assistant" || message.role === "tool");
    return isTouched ? ({ ...message, content: withIds(message.content, renamed) } as ModelMessage) : message;
  });
}

/** New ids for those calls of an answer whose ids are used already. */
function rename(content: Parts, used: ReadonlySet<string>): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>();
  for (const id of idsOf(content)) {
    let fresh = id;
    for (let count = 2; used.has(fresh); count++) fresh = `${id}-${count}`;
    if (fresh !== id) renamed.set(id, fresh);
  }
  return renamed;
}

function idsOf(content: Parts): readonly string[] {
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}

function withIds(content: Parts, renamed: ReadonlyMap<string, string>): readonly unknown[] {
  return content.map((part) => {
    const id = part.type === "tool-call" || part.type === "tool-result" ? renamed.get(part.toolCallId) : undefined;
    return id === undefined ? part : { ...part, toolCallId: id };
  });
}
