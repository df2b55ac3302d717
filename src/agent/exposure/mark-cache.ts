import type { Model, ModelMessage } from "../../models/model.ts";

const mark = { cacheControl: { type: "ephemeral" } } as const;

/**
 * Says to providers that cache only what they are told to where a prompt can be cut: behind the system text and behind the last
 * message, so that the next question pays for what is new. Changes the list, never a message of it.
 */
export function markCache(prompt: ModelMessage[], { provider }: Pick<Model, "provider">): void {
  if (!provider.startsWith("anthropic")) return;
  const last = prompt.length - 1;
  if (prompt[0]?.role === "system") prompt[0] = marked(prompt[0]);
  if (last > 0) prompt[last] = marked(prompt[last] as ModelMessage);
}

function marked(message: ModelMessage): ModelMessage {
  const { providerOptions } = message;
  return {
    ...message,
    providerOptions: { ...providerOptions, anthropic: { ...mark, ...providerOptions?.["anthropic"] } },
  };
}
