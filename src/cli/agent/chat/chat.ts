import { markOf } from "../../../agent/memory/kitbag-mark.ts";
import type { AgentRun } from "../../../agent/agent-run.ts";
import type { Model, ModelMessage } from "../../../models/model.ts";
import type { Session } from "../../../workspace/workspace.ts";
import type { Invocation } from "../../cli-command.ts";
import type { OpenAgent } from "../open-agent.ts";
import type { AgentHooks } from "../../../agent/hooks.ts";
import type { RunResult } from "../../../agent/run-result.ts";
import { isKitbagError } from "../../../core/errors.ts";
import { askThePerson } from "../../call-options.ts";
import { toPrintable } from "../../printable.ts";
import { showDuration } from "../../render.ts";
import { toNext } from "../runs/run-origin.ts";
import { createShownRun, finishRun, type ShownRun, toUserMessage } from "../show-run.ts";
import { wrapText } from "../view/wrap-words.ts";
import { describeEnd, summarizeRun } from "../view/describe-end.ts";

/** A conversation at the terminal while it lasts. */
export interface Chat {
  readonly invocation: Invocation;
  readonly open: OpenAgent;
  /** Has the skills open that are open in the conversation, also between two requests. */
  readonly session: Session;
  model: Model | string;
  /** What was said so far. */
  messages: readonly ModelMessage[];
  /** The name under which it is saved; none if it is not. */
  conversation: string | undefined;
  /** Whether the next run is gone through step by step. */
  isDebugging: boolean;
  lastRun: AgentRun | undefined;
  /** Whether a request could not be answered. */
  hasFailed: boolean;
}

/** Begins a conversation. The caller closes its session. */
export function createChat(invocation: Invocation, open: OpenAgent): Chat {
  return {
    invocation,
    open,
    session: open.workspace.openSession(),
    model: open.model,
    messages: [],
    conversation: undefined,
    isDebugging: false,
    lastRun: undefined,
    hasFailed: false,
  };
}

/** Says something to the person that is not the model's answer. */
export function say({ invocation: { terminal } }: Pick<Chat, "invocation">, text: string): void {
  const wrapped = wrapText(text, terminal.columns);
  terminal.note(wrapped.endsWith("\n") ? wrapped : `${wrapped}\n`);
}

/** Has the agent answer a request, shows how it does, and goes on with the conversation. Never throws for what can be cured. */
export async function answerRequest(chat: Chat, text: string, images: readonly string[]): Promise<void> {
  try {
    await answer(chat, await toUserMessage(text, images));
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    chat.hasFailed = true;
    say(chat, toPrintable(cause.message));
  }
}

async function answer(chat: Chat, message: ModelMessage): Promise<void> {
  const { invocation, open, session } = chat;
  const { terminal, json } = invocation;
  const shown = createShownRun(invocation, { ...open, approve: open.approve ?? askThePerson(invocation) });
  const debugging = chat.isDebugging ? await startDebugging(chat, shown) : undefined;
  const startedAt = performance.now();
  // What is saved, the agent goes on with by itself.
  const { conversation } = chat;
  const run = open.agent.run(conversation === undefined ? [...chat.messages, message] : [message], {
    model: chat.model,
    ...(conversation !== undefined && { conversation }),
    skills: session.getActiveSkills(),
    onEvent: shown.onEvent,
    ...(open.user !== undefined && { user: open.user }),
    ...(shown.approve !== undefined && { approve: shown.approve }),
    ...(debugging !== undefined && { hooks: debugging.hooks(() => run.stop()) }),
  });
  chat.lastRun = run;
  const result = await finishRun(run, shown.view);
  debugging?.close();
  shown.conclude(result);
  await goOn(chat, result);
  const end = describeEnd(result, toNext(invocation, run.id));
  if (end !== undefined) say(chat, terminal.style(result.status === "failed" ? "red" : "yellow", end));
  if (!json && terminal.isScreen) {
    const time = showDuration(performance.now() - startedAt);
    say(chat, `${terminal.style("dim", summarizeRun(result, time))}\n\n`);
  }
}

interface ChatDebugging {
  hooks(stop: () => void): AgentHooks;
  close(): void;
}

async function startDebugging(chat: Chat, { view }: ShownRun): Promise<ChatDebugging> {
  chat.isDebugging = false;
  const { openLiveDebugging } = await import("../debug/ask-at-stop.ts");
  const live = openLiveDebugging(chat.invocation, []);
  return { hooks: (stop) => live.hooks(stop, view), close: live.close };
}

async function goOn(chat: Chat, result: RunResult): Promise<void> {
  const { session } = chat;
  if (result.status !== "ok") chat.hasFailed = true;
  // It did not even begin: nothing was said, and nothing was opened.
  if (result.messages.length === 0) return;
  chat.messages = toNextMessages(result.messages);
  await openOnly(session, result.skills);
}

/** Has these skills open in a session, and no others. */
export async function openOnly(session: Session, skills: readonly string[]): Promise<void> {
  for (const name of session.getActiveSkills()) {
    if (!skills.includes(name)) await session.deactivateSkill(name);
  }
  for (const name of skills) await session.activateSkill(name);
}

/**
 * What of a conversation the next request goes on with. After a run that was stopped or failed, calls may have no results and a
 * request no answer: no provider takes such a conversation, so they are left out.
 */
export function toNextMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return [];
  // What was recalled for a request goes with it.
  if (last.role === "user" && markOf(last).recalled !== undefined) return toNextMessages(messages.slice(0, -1));
  if (last.role === "user") return messages.slice(0, -1);
  if (last.role !== "assistant") return messages;
  const content = last.content.filter((part) => part.type !== "tool-call");
  if (content.length === last.content.length) return messages;
  const before = messages.slice(0, -1);
  return content.some((part) => part.type === "text") ? [...before, { ...last, content }] : toNextMessages(before);
}
