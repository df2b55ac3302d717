import { hash } from "node:crypto";

import { toContentKey } from "../../core/content-key.ts";
import { cosineOf, type Embedder, toUnitVector } from "../../core/embedder.ts";
import { isRecord, type JsonValue, toCanonicalJson } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { Model, ModelAnswer, ModelCall, ModelPart } from "../../models/model.ts";
import type { PartAnswer, PartSource } from "../../models/shims/part-source.ts";
import { askForParts, wrapParts } from "../../models/shims/wrap-model.ts";

/** When an answer of before is given again to a question in other words. */
export interface AnswerCacheOptions {
  /** How long an answer is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Compares the questions; `toEmbedder` makes one. */
  readonly embedder: Embedder;
  /** How near they must be, from 0 to 1. @default 0.8 */
  readonly threshold?: number;
}

/** For whom an answer is, and what else it depends on. */
export interface AnswerScope {
  readonly user: string | undefined;
  /** Which tools there are, in which versions. */
  tools(): readonly string[];
}

/** An answer that is kept. */
interface KeptAnswer {
  /** The question for which it was given. */
  readonly said: string;
  readonly text: string;
}

const usualThreshold = 0.8;
const longestQuestion = 4000;
const longestAnswer = 100_000;

/**
 * Puts a cache in front of the model of one run: for the first question of a conversation, in text alone, that the model answers without
 * a tool. An answer is given again if the question has the same content words, numbers and negations in the same order, the embedder
 * finds both near enough, and user, model, instructions, tools with their versions and settings are the same.
 *
 * **Contract**: an embedder or a store that fails has the model asked.
 */
export function withAnswerCache(
  model: Model,
  kv: KeyValueStore,
  options: AnswerCacheOptions,
  scope: AnswerScope,
): Model {
  return wrapParts(model, {
    // Only streams are asked for in a run.
    doGenerate: (call) => model.doGenerate(call),
    async ask(call) {
      const question = toQuestion(model, call, scope);
      if (question === undefined) return askForParts(model, call);
      const kept = await find(kv, question, options);
      if (kept !== undefined) return { source: toSource(kept) };
      const answer = await askForParts(model, call);
      return { ...answer, source: keepAnswer(answer, (text) => keep(kv, question, text, options)) };
    },
  });
}

interface Question {
  readonly text: string;
  readonly key: string;
}

/** The question of a call, if it is one of which the answer can be kept. */
function toQuestion(model: Model, call: ModelCall, scope: AnswerScope): Question | undefined {
  const { prompt, abortSignal: _signal, includeRawChunks: _raw, headers: _headers, ...settings } = call;
  const [message, ...others] = prompt.filter(({ role }) => role !== "system");
  if (message?.role !== "user" || others.length > 0 || message.providerOptions?.["kitbag"] !== undefined)
    return undefined;
  const [part, ...more] = message.content;
  if (part?.type !== "text" || more.length > 0 || part.text.length > longestQuestion) return undefined;
  const content = toContentKey(part.text);
  if (content === "") return undefined;
  const system = prompt.flatMap(({ role, content: text }) => (role === "system" ? [text] : []));
  const about = [model.provider, model.modelId, scope.user, scope.tools(), system, settings, content];
  const digest = hash("sha256", toCanonicalJson(JSON.parse(JSON.stringify(about)) as JsonValue));
  return { text: part.text, key: `answer:${digest}` };
}

async function find(
  kv: KeyValueStore,
  { text, key }: Question,
  { embedder, threshold = usualThreshold }: AnswerCacheOptions,
): Promise<KeptAnswer | undefined> {
  try {
    const { said, text: answer } = toKept((await kv.get(key))?.value);
    if (said === undefined || answer === undefined) return undefined;
    if (said === text) return { said, text: answer };
    const [left, right] = await embedder.embed([said, text]);
    if (left === undefined || right === undefined) return undefined;
    return cosineOf(toUnitVector(left), toUnitVector(right)) >= threshold ? { said, text: answer } : undefined;
  } catch {
    return undefined;
  }
}

function toKept(value: JsonValue | undefined): Partial<KeptAnswer> {
  const { said, text } = isRecord(value) ? value : {};
  return { ...(typeof said === "string" && { said }), ...(typeof text === "string" && { text }) };
}

async function keep(
  kv: KeyValueStore,
  { text: said, key }: Question,
  text: string,
  { ttlMs }: AnswerCacheOptions,
): Promise<void> {
  try {
    await kv.set(key, { said, text }, { expiresInMs: ttlMs, durable: false });
  } catch {
    // The model is asked again the next time.
  }
}

/** Passes on the parts of an answer, and keeps its text if it is nothing else, and whole. */
function keepAnswer({ source }: PartAnswer, keepText: (text: string) => Promise<void>): PartSource {
  let text = "";
  let isPlain = true;
  return {
    cancel: source.cancel.bind(source),
    async next() {
      const part = await source.next();
      if (part?.type === "text-delta") text += part.delta;
      else if (part !== undefined && !plainParts.has(part.type)) isPlain = false;
      if (part?.type !== "finish") return part;
      if (isPlain && part.finishReason.unified === "stop" && text !== "" && text.length <= longestAnswer)
        await keepText(text);
      return part;
    },
  };
}

const plainParts: ReadonlySet<ModelPart["type"]> = new Set<ModelPart["type"]>([
  "stream-start",
  "response-metadata",
  "text-start",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "raw",
  "finish",
]);

const noTokens: ModelAnswer["usage"] = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** The parts of an answer that was kept. It says so, and for which question it was given. */
function toSource({ said, text }: KeptAnswer): PartSource {
  const parts: ModelPart[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "kept" },
    { type: "text-delta", id: "kept", delta: text },
    { type: "text-end", id: "kept" },
    {
      type: "finish",
      usage: noTokens,
      finishReason: { unified: "stop", raw: undefined },
      providerMetadata: { kitbag: { recalled: said } },
    },
  ];
  return { next: () => parts.shift(), cancel: () => Promise.resolve() };
}
