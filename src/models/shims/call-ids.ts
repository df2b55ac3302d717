import { createHash } from "node:crypto";

import type { Model, ModelCall, ModelMessage } from "../model.ts";
import { providerRow } from "../providers.ts";
import { askForParts, wrapParts } from "./wrap-model.ts";

const safe = /^[\w-]{1,40}$/u;

/**
 * A model that is shown only ids of calls that its provider takes, since a conversation may have begun with another: what that called
 * goes on under another id, always the same. The model itself if its provider takes all.
 */
export function withSafeIds(model: Model): Model {
  if (providerRow(model).needsSafeIds !== true) return model;
  return wrapParts(model, {
    doGenerate: (call) => model.doGenerate(toSafeCall(call)),
    ask: (call) => askForParts(model, toSafeCall(call)),
  });
}

/** The call itself if there is nothing to change. */
function toSafeCall(call: ModelCall): ModelCall {
  const { prompt } = call;
  if (!prompt.some(hasUnsafe)) return call;
  return { ...call, prompt: prompt.map((message) => (hasUnsafe(message) ? toSafe(message) : message)) };
}

function hasUnsafe({ role, content }: ModelMessage): boolean {
  if (role !== "assistant" && role !== "tool") return false;
  for (const part of content) if (isOfCall(part, role) && !safe.test(part.toolCallId)) return true;
  return false;
}

interface OfCall {
  readonly toolCallId: string;
}

/** What a provider did itself has an id of its own. */
function isOfCall<Part extends { readonly type: string }>(part: Part, role: string): part is Part & OfCall {
  const { type, providerExecuted } = part as { readonly type: string; readonly providerExecuted?: boolean };
  return role === "tool" ? type === "tool-result" : type === "tool-call" && providerExecuted !== true;
}

function toSafe(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" && message.role !== "tool") return message;
  const content = message.content.map((part) =>
    isOfCall(part, message.role) && !safe.test(part.toolCallId)
      ? { ...part, toolCallId: toSafeId(part.toolCallId) }
      : part,
  );
  return { ...message, content } as ModelMessage;
}

function toSafeId(id: string): string {
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}
