import type { ModelMessage } from "../../models/model.ts";
import type { MessageAdded } from "../events.ts";
import { guardAddedText } from "./run-guards.ts";
import type { RunState } from "./run-state.ts";

/** Adds a message of the agent itself after the model's last answer. */
export async function say(run: RunState, reason: MessageAdded["reason"], said: string): Promise<void> {
  const message = await toMessage(run, said);
  await run.keep({ type: "message-added", run: run.id, step: run.answered, reason, message });
  run.messages.push(message);
}

/** Adds the caller's steering messages before the model is asked again. */
export async function saySteering(run: RunState): Promise<void> {
  for (let [text] = run.steering; text !== undefined; [text] = run.steering) {
    await say(run, "steering", text);
    run.steering.shift();
  }
}

/**
 * Keeps the steering messages of a run that ends before its model is asked again, so that a resumed or forked run starts with them.
 * They are not added while calls are unfinished.
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
  return { role: "user", content: [{ type: "text", text: await guardAddedText(run, said) }] };
}
