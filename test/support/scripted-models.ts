import { setImmediate } from "node:timers/promises";

import type { Model, ModelCall, ModelPart } from "../../src/models/model.ts";
import type { Clock } from "../../src/platform/clock.ts";

/** What a scripted model does when it is asked. */
export interface Turn {
  /** It fails before there is a stream. */
  readonly fails?: unknown;
  /** What it answers with. */
  readonly parts?: readonly ModelPart[];
  /** What comes behind the parts. @default the end of the stream */
  readonly then?: "hang" | { readonly breaks: unknown };
  /** It never even begins. */
  readonly hangs?: boolean;
}

/** A model that does what its script says, and remembers what it was asked. */
export interface ScriptedModel extends Model {
  readonly calls: ModelCall[];
  /** How many streams were cancelled. */
  readonly cancelled: () => number;
}

/** Makes a model that does the turns one after the other, and the last one for ever. */
export function scriptedModel(turns: readonly Turn[], { provider = "acme.chat", modelId = "one" } = {}): ScriptedModel {
  const calls: ModelCall[] = [];
  let cancelled = 0;
  const take = (call: ModelCall): Turn => {
    calls.push(call);
    return turns[Math.min(calls.length, turns.length) - 1] ?? {};
  };
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    calls,
    cancelled: () => cancelled,
    async doGenerate(call) {
      const turn = take(call);
      if (turn.fails !== undefined) throw turn.fails as Error;
      if (turn.hangs === true) await new Promise(() => {});
      const finish = turn.parts?.find((part) => part.type === "finish");
      const text = (turn.parts ?? []).map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
      const { finishReason, usage } = finish ?? finishPart("stop");
      return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
    },
    async doStream(call) {
      const turn = take(call);
      if (turn.fails !== undefined) throw turn.fails as Error;
      if (turn.hangs === true) await new Promise(() => {});
      const parts = [...(turn.parts ?? [])];
      const stream = new ReadableStream<ModelPart>(
        {
          async pull(controller) {
            const part = parts.shift();
            if (part !== undefined) return controller.enqueue(part);
            if (turn.then === "hang") return new Promise(() => {});
            if (turn.then !== undefined) return controller.error(turn.then.breaks);
            controller.close();
          },
          cancel: () => void (cancelled += 1),
        },
        { highWaterMark: 0 },
      );
      return { stream };
    },
  };
}

/** The parts of an answer that is a text. */
export function textParts(...texts: readonly string[]): ModelPart[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "r1" },
    { type: "text-start", id: "1" },
    ...texts.map((delta): ModelPart => ({ type: "text-delta", id: "1", delta })),
    { type: "text-end", id: "1" },
    finishPart("stop"),
  ];
}

/** The end of an answer. */
export function finishPart(
  unified: Extract<ModelPart, { type: "finish" }>["finishReason"]["unified"],
): Extract<ModelPart, { type: "finish" }> {
  return {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 2, text: 2, reasoning: 0 },
    },
  };
}

/** What packages of the AI SDK throw, without the package. */
export function apiError(statusCode: number | undefined, message = "no", more: object = {}): Error {
  const error = new Error(message);
  const isRetryable = statusCode === undefined || statusCode === 429 || statusCode >= 500;
  return Object.assign(error, { name: "AI_APICallError", statusCode, isRetryable, responseHeaders: {}, ...more });
}

/** Asks for a stream and reads all of it. */
export async function readParts(model: Model, call: ModelCall = question): Promise<ModelPart[]> {
  const { stream } = await model.doStream(call);
  const parts: ModelPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** The text of an answer. */
export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

/** Something to ask. */
export const question: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] };

/** A clock that goes only when it is told to. */
export interface FakeClock extends Clock {
  /** Lets time pass, and what waits for it happen, in its order. */
  advance(ms: number): Promise<void>;
  /** How many timers are running. */
  running(): number;
}

/** Makes a clock that stands at `start`, in milliseconds since 1970. */
export function fakeClock(start = Date.UTC(2026, 10, 16)): FakeClock {
  let time = start;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => time,
    elapsed: () => time - start,
    after(ms, callback) {
      const timer = { at: time + ms, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    running: () => timers.size,
    async advance(ms) {
      const end = time + ms;
      for (;;) {
        await setImmediate();
        const [next] = [...timers].toSorted((left, right) => left.at - right.at);
        if (next === undefined || next.at > end) break;
        timers.delete(next);
        time = next.at;
        next.callback();
      }
      time = end;
    },
  };
}
