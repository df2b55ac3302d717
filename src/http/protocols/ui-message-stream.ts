import type { ModelAnswered } from "../../agent/events.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { ServerEvent } from "../server-events.ts";

/** Tells the AI SDK which stream this is. */
export const uiStreamHeaders = { "x-vercel-ai-ui-message-stream": "v1" } as const;

/** Where the stream of one message is. */
interface Place {
  step: number;
  /** The block that is open now: pieces of text or of reasoning. */
  block: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  /** Steps of which text was told in pieces. */
  readonly told: Set<string>;
  /** Calls whose input has begun. */
  readonly begun: Set<string>;
  skills: string;
}

/**
 * Makes the AI SDK's UI message stream of the events of a run: `useChat` shows it. Text comes in pieces, calls of tools with their inputs,
 * progress (`data-progress`), outputs and approvals; `data-skills` says which skills are open.
 */
export async function* toUiMessageStream(
  events: AsyncIterable<ServerEvent>,
  messageId: string,
): AsyncIterable<ServerEvent> {
  const place: Place = { step: 0, block: undefined, told: new Set(), begun: new Set(), skills: "" };
  yield chunk({ type: "start", messageId });
  for await (const { event, data } of events) {
    const read = readers[event ?? ""];
    if (read !== undefined) for (const one of read(data as never, place)) yield chunk(one);
  }
  yield { raw: "[DONE]" };
}

type Chunk = JsonObject & { readonly type: string };

interface StepEvent {
  readonly step: number;
}

interface CallEvent extends StepEvent {
  readonly id: string;
  readonly tool: string;
}

/** What each event becomes; the others have no place in a message. */
const readers: Readonly<Record<string, (data: never, place: Place) => Iterable<Chunk>>> = {
  "text-delta": (event: StepEvent & { readonly text: string }, place) => toDelta("text", event, place),
  "reasoning-delta": (event: StepEvent & { readonly text: string }, place) => toDelta("reasoning", event, place),
  *"tool-input-delta"({ step, id, tool, text }: CallEvent & { readonly text: string }, place) {
    yield* enterStep(step, place);
    yield* closeBlock(place);
    if (!place.begun.has(id)) yield { type: "tool-input-start", toolCallId: id, toolName: tool, dynamic: true };
    place.begun.add(id);
    if (text !== "") yield { type: "tool-input-delta", toolCallId: id, inputTextDelta: text };
  },
  *"model-answer"({ step, content, skills }: Pick<ModelAnswered, "step" | "content" | "skills">, place) {
    yield* enterStep(step, place);
    for (const part of content) {
      // What did not come in pieces comes at once: to a client that came back, for example.
      if ((part.type === "text" || part.type === "reasoning") && !place.told.has(`${part.type}-${step}`))
        yield* toDelta(part.type, { step, text: part.text }, place);
    }
    yield* closeBlock(place);
    yield* toSkills(skills, place);
  },
  *"tool-start"({ id, tool, input }: CallEvent & { readonly input: JsonValue }, place) {
    place.begun.add(id);
    yield { type: "tool-input-available", toolCallId: id, toolName: tool, input, dynamic: true };
  },
  *"call-event"({ id, event }: { readonly id: string; readonly event: JsonObject }) {
    if (event["type"] === "call-progress" || event["type"] === "call-chunk")
      yield { type: "data-progress", data: { toolCallId: id, ...event }, transient: true };
  },
  *"approval-asked"({ approval, id, tool, input, reason }: CallEvent & Asked, place) {
    if (!place.begun.has(id) || input !== undefined)
      yield { type: "tool-input-available", toolCallId: id, toolName: tool, input, dynamic: true };
    yield {
      type: "tool-approval-request",
      approvalId: approval,
      toolCallId: id,
      ...(reason !== undefined && { reason }),
    };
  },
  *"tool-end"({ id, outcome }: CallEvent & { readonly outcome: ToolOutcome }) {
    if (outcome.status === "ok")
      yield { type: "tool-output-available", toolCallId: id, output: outcome.output, dynamic: true };
    else if (outcome.error.code === "approval-denied") yield { type: "tool-output-denied", toolCallId: id };
    else yield { type: "tool-output-error", toolCallId: id, errorText: outcome.error.message, dynamic: true };
  },
  *result(result: Ended, place) {
    yield* closeBlock(place);
    yield* toSkills(result.skills, place);
    if (place.step > 0) yield { type: "finish-step" };
    if (result.cost !== undefined) yield { type: "data-cost", data: { usd: result.cost }, transient: true };
    if (result.status === "failed" || result.status === "refused")
      yield { type: "error", errorText: result.error?.message ?? "The model refused to answer" };
    else if (result.status === "stopped")
      yield { type: "abort", ...(result.reason !== undefined && { reason: result.reason }) };
    else yield { type: "finish", finishReason: result.status === "cut" ? "length" : "stop" };
  },
};

interface Asked {
  readonly approval: string;
  readonly input: JsonValue;
  readonly reason?: string;
}

interface Ended {
  readonly status: string;
  readonly skills: readonly string[];
  readonly reason?: string;
  readonly error?: { readonly message: string };
  readonly cost?: number;
}

function* toDelta(
  kind: "text" | "reasoning",
  { step, text }: StepEvent & { readonly text: string },
  place: Place,
): Iterable<Chunk> {
  if (text === "") return;
  yield* enterStep(step, place);
  const id = `${kind}-${step}`;
  if (place.block?.id !== id) {
    yield* closeBlock(place);
    place.block = { kind, id };
    place.told.add(id);
    yield { type: `${kind}-start`, id };
  }
  yield { type: `${kind}-delta`, id, delta: text };
}

function* closeBlock(place: Place): Iterable<Chunk> {
  if (place.block === undefined) return;
  const { kind, id } = place.block;
  place.block = undefined;
  yield { type: `${kind}-end`, id };
}

function* enterStep(step: number, place: Place): Iterable<Chunk> {
  if (step <= place.step) return;
  yield* closeBlock(place);
  if (place.step > 0) yield { type: "finish-step" };
  place.step = step;
  yield { type: "start-step" };
}

function* toSkills(skills: readonly string[], place: Place): Iterable<Chunk> {
  const now = skills.join();
  if (now === place.skills) return;
  place.skills = now;
  yield { type: "data-skills", id: "skills", data: { open: skills } };
}

function chunk(data: Chunk): ServerEvent {
  return { data };
}
