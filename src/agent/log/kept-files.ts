import type { ModelContent, ModelMessage } from "../../models/model.ts";
import type { RunEvent } from "../../records/runs/run-records.ts";
import type { KeptEvent } from "./run-log.ts";

/** Makes of an event what can be kept as JSON: bytes become base64, addresses become text. */
export function toKeptEvent(event: KeptEvent): RunEvent {
  switch (event.type) {
    case "task-start":
    case "memory-compacted":
      return toEvent({ ...event, messages: event.messages.map(toKeptMessage) });
    case "message-added":
      return toEvent({ ...event, message: toKeptMessage(event.message) });
    case "model-answer":
      return toEvent(event.content.some(isFile) ? { ...event, content: event.content.map(toKeptPart) } : event);
    case "call-changed":
    case "approval-asked":
    case "approval-decided":
    case "guard-acted":
    case "answer-dropped":
      return toEvent(event);
  }
}

/** A message as it was before it was kept. */
export function fromKeptMessage(message: ModelMessage): ModelMessage {
  return hasFiles(message) ? withParts(message, fromKeptPart) : message;
}

/** A message as it is kept. */
export function toKeptMessage(message: ModelMessage): ModelMessage {
  return hasFiles(message) ? withParts(message, toKeptPart) : message;
}

function toEvent(event: object): RunEvent {
  return event as unknown as RunEvent;
}

function withParts(message: ModelMessage, convert: (part: Part) => Part): ModelMessage {
  return {
    ...message,
    content: (message.content as unknown as readonly Part[]).map(convert),
  } as unknown as ModelMessage;
}

/** A part that may have data. */
interface Part {
  readonly type: string;
  readonly data?: unknown;
}

interface FileData {
  readonly type?: string;
  readonly data?: unknown;
  readonly url?: unknown;
}

function hasFiles({ role, content }: ModelMessage): boolean {
  return role !== "system" && content.some(isFile);
}

function isFile({ type }: { readonly type: string }): boolean {
  return type === "file" || type === "reasoning-file";
}

function toKeptPart<Some extends Part | ModelContent>(part: Some): Some {
  if (!isFile(part)) return part;
  const data = (part as Part).data as FileData;
  if (data.data instanceof Uint8Array) {
    return { ...part, data: { ...data, data: Buffer.from(data.data).toString("base64") } };
  }
  return data.url instanceof URL ? { ...part, data: { ...data, url: data.url.href } } : part;
}

function fromKeptPart(part: Part): Part {
  if (!isFile(part)) return part;
  const data = part.data as FileData;
  return typeof data.url === "string" ? { ...part, data: { ...data, url: new URL(data.url) } } : part;
}
