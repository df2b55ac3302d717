import type { ModelMessage } from "../../models/model.ts";
import type { MessageAdded } from "../events.ts";
import { guardSaid } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";

/** Says something to the model behind its last answer, in nobody's name but the agent's. */
export async function say(run: RunState, reason: MessageAdded["reason"], said: string): Promise<void> {
  const message = await toMessage(run, said);
  await run.keep({ type: "message-added", run: run.id, step: run.answered, reason, message });
  run.messages.push(message);
}

/** Says what somebody wants to say to the model before it is asked again. */
export async function saySteering(run: RunState): Promise<void> {
  for (let [text] = run.steering; text !== undefined; [text] = run.steering) {
    await say(run, "steering", text);
    run.steering.shift();
  }
}

/**
 * Keeps what somebody has said to a run that ends before its model is asked again: whoever resumes or forks it goes on with that. It
 * is not said yet where calls are not over.
 */
export async function keepSteering(run: RunState): Promise<void> {
  const last = run.messages.at(-1);
  const isOpen = last?.role === "assistant" && last.content.some(({ type }) => type === "tool-call");
  if (!isOpen) return saySteering(run);
  for (const text of run.steering.splice(0)) {
    const message = await toMessage(run, text);
    await run.keep({ type: "message-added", run: run.id, step: run.answered, reason: "steering", message });
  }
}

async function toMessage(run: RunState, said: string): Promise<ModelMessage> {
  return { role: "user", content: [{ type: "text", text: await guardSaid(run, said) }] };
}
