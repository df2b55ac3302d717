import type { ToolOutcome } from "../../core/outcome.ts";
import type { ModelMessage } from "../../models/model.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** The skills to open, split by whether the conversation already contains their instructions. */
export interface SplitSkills {
  /** Not in the conversation: they are opened before the system text is written, which contains them. */
  readonly untold: readonly string[];
  /** The model has opened them in this conversation and read the result: repeating them would change the prompt it was shown. */
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

/** Opens or closes a skill that a call of the journal has opened or closed: in this process it has not happened yet. */
export async function openAgain(
  { parts: { session, exposure } }: RunState,
  { dispatch, input }: PlannedCall,
  outcome: ToolOutcome,
): Promise<void> {
  if (dispatch === undefined || outcome.status !== "ok") return;
  const { name } = input as { readonly name?: unknown };
  if (typeof name !== "string") return;
  // One that is gone, or is not trusted any more, stays closed: its tools are refused, and say why.
  if (dispatch.name === "deactivate_skill") await session.deactivateSkill(name);
  if (dispatch.name !== "activate_skill") return;
  const opened = await session.activateSkill(name);
  if (opened.status === "ok") exposure.noteOpened?.(opened.opened);
}
