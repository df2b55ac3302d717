import type { ModelMessage } from "../../models/model.ts";

/** Which skills are to be open, by whether the conversation says what is in them. */
export interface SplitSkills {
  /** The system text says it: they are opened before it is written. */
  readonly untold: readonly string[];
  /** A model has opened them in this conversation, and read what came of it: to say it again would change what it was shown. */
  readonly told: readonly string[];
}

/** Tells which of `skills` a conversation has opened. */
export function splitSkills(skills: readonly string[], messages: readonly ModelMessage[]): SplitSkills {
  if (skills.length === 0) return { untold: [], told: [] };
  const opened = findOpened(messages);
  return { untold: skills.filter((name) => !opened.has(name)), told: skills.filter((name) => opened.has(name)) };
}

function findOpened(messages: readonly ModelMessage[]): ReadonlySet<string> {
  const asked = new Map<string, string>();
  const opened = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant" && message.role !== "tool") continue;
    for (const part of message.content) {
      if (part.type === "tool-call" && part.toolName === "activate_skill") {
        const { name } = part.input as { readonly name?: unknown };
        if (typeof name === "string") asked.set(part.toolCallId, name);
      }
      const name = part.type === "tool-result" ? asked.get(part.toolCallId) : undefined;
      if (part.type === "tool-result" && name !== undefined && isDone(part.output.type)) opened.add(name);
    }
  }
  return opened;
}

/** What went wrong is of another type. */
function isDone(type: string): boolean {
  return type === "json" || type === "text";
}
