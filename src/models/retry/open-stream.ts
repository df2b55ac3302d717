import { KitbagError } from "../../core/errors.ts";
import type { FinishReason, Model, ModelAnswer, ModelCall, ModelPart } from "../model.ts";
import { withProgress } from "../servers/model-progress.ts";
import { serverLinkOf } from "../servers/server-link.ts";
import { withFacts, type PartAnswer, type PartSource } from "../shims/part-source.ts";
import { askForParts } from "../shims/wrap-model.ts";
import { toAbortError, type Clock } from "../../platform/clock.ts";
import type { RequestLimits } from "./time-limits.ts";
import { nameOf, toModelError } from "./to-model-error.ts";
import { startWatch, type Watch } from "./watch.ts";

/** How a stream is opened. */
export interface OpenOptions {
  readonly clock: Clock;
  /** @default the model is waited for as long as it takes */
  readonly limits?: RequestLimits | undefined;
}

/**
 * Asks a model, and waits for the first part of its answer. Failures until then reject, before the caller has seen any part: the
 * question can be sent again, or to another model.
 *
 * What goes wrong later is a part of type `error` that holds a {@link KitbagError}, and a `finish` that says `interrupted`: the
 * source itself rejects only if the caller aborts.
 */
export async function openStream(model: Model, call: ModelCall, { clock, limits }: OpenOptions): Promise<PartAnswer> {
  if (limits === undefined) return openUnwatched(model, call, clock);
  const watch = startWatch(model, limits, clock, call.abortSignal);
  watch.expect("first part", limits.firstPartMs);
  const asked = askForParts(model, { ...toHeard(model, call, watch, limits), abortSignal: watch.signal });
  let source: PartSource | undefined;
  try {
    const answer = await watch.during(asked);
    source = answer.source;
    // Cancelling the stream ends a pending read of a part, so that the reads need no race with the timeout.
    watch.onStop(() => void source?.cancel());
    const held = await readUntilAnswer(model, source, { watch, limits });
    watch.arrive();
    return withFacts(
      { source: new RestSource({ model, call, source, held, watch, partMs: limits.partMs, clock }) },
      answer,
    );
  } catch (cause) {
    watch.abandon();
    if (source === undefined) asked.then(({ source: late }) => late.cancel()).catch(() => {});
    else void source.cancel();
    throw cause;
  }
}

/** While a server loads a model, its first part is not waited for. */
function toHeard(model: Model, call: ModelCall, watch: Watch, { firstPartMs }: RequestLimits): ModelCall {
  if (serverLinkOf(model) === undefined) return call;
  return withProgress(call, () => watch.expect("first part", firstPartMs));
}

async function openUnwatched(model: Model, call: ModelCall, clock: Clock): Promise<PartAnswer> {
  const answer = await askForParts(model, call);
  const { source } = answer;
  if (source.isOpened === true) return answer;
  try {
    const held = await readUntilAnswer(model, source, undefined);
    const rest = new RestSource({ model, call, source, held, watch: undefined, partMs: Infinity, clock });
    return withFacts({ source: rest }, answer);
  } catch (cause) {
    void source.cancel();
    throw cause;
  }
}

/**
 * Parts with which a model shows something of its answer. All others can wait for one of these, also those of a provider's own
 * kind: Anthropic's package begins each answer with one.
 */
const showing: ReadonlySet<string> = new Set<ModelPart["type"]>([
  "file",
  "finish",
  "reasoning-delta",
  "reasoning-file",
  "source",
  "text-delta",
  "tool-approval-request",
  "tool-call",
  "tool-input-delta",
  "tool-input-start",
  "tool-result",
]);

interface Watched {
  readonly watch: Watch;
  readonly limits: RequestLimits;
}

async function readUntilAnswer(model: Model, source: PartSource, watched: Watched | undefined): Promise<ModelPart[]> {
  const held: ModelPart[] = [];
  for (;;) {
    const next = source.next();
    const part = next instanceof Promise ? await next : next;
    watched?.watch.check();
    if (part === undefined) throw cut(model);
    if (part.type === "error") throw toModelError(model, part.error);
    if (part.type === "finish") checkFinish(model, part);
    held.push(part);
    // It is at work, although nothing of it is shown.
    if (part.type === "reasoning-start") watched?.watch.expect("first part", watched.limits.thinkingMs);
    if (showing.has(part.type) && !("delta" in part && part.delta === "")) return held;
  }
}

/**
 * Asks a model for an answer that is not streamed.
 *
 * @throws {KitbagError} `model-timeout`; `model-unavailable` if the answer is incomplete; and whatever the model throws.
 */
export async function askWhole(model: Model, call: ModelCall, { clock, limits }: OpenOptions): Promise<ModelAnswer> {
  const watch = limits && startWatch(model, { requestMs: limits.wholeMs }, clock, call.abortSignal);
  try {
    const asked = model.doGenerate(watch === undefined ? call : { ...call, abortSignal: watch.signal });
    const answer = await (watch === undefined ? asked : watch.during(asked));
    checkWhole(model, answer);
    return answer;
  } finally {
    watch?.end();
  }
}

/** @throws {KitbagError} `model-unavailable` if an answer is incomplete: it was interrupted, or ended with an error and is empty. */
function checkWhole(model: Model, { content, finishReason }: ModelAnswer): void {
  const isEmpty = content.every((part) => part.type === "text" && part.text === "");
  if (isEmpty || finishReason?.unified === "interrupted") checkFinish(model, { finishReason });
}

function checkFinish(model: Model, { finishReason }: { readonly finishReason: FinishReason | undefined }): void {
  if (finishReason?.unified === "interrupted") throw cut(model);
  if (finishReason?.unified !== "error") return;
  throw new KitbagError("model-unavailable", {
    model: nameOf(model),
    reason: "it ended with an error before it answered",
  });
}

/** The error of an answer that ends in the middle. */
function cut(model: Model): KitbagError {
  return new KitbagError("model-unavailable", {
    model: nameOf(model),
    reason: "the connection was cut before the end of the answer",
  });
}

interface Rest {
  readonly model: Model;
  readonly call: ModelCall;
  readonly source: PartSource;
  readonly held: ModelPart[];
  readonly watch: Watch | undefined;
  readonly partMs: number;
  readonly clock: Clock;
}

/** The parts that were held back, then the rest of the stream. A class, because one is made for each question. */
class RestSource implements PartSource {
  readonly isOpened = true;
  readonly #rest: Rest;
  #shown = 0;
  #isFinished = false;
  #hasFailed = false;
  #isOver = false;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  next(): Promise<ModelPart | undefined> | ModelPart | undefined {
    const { held, source, watch, partMs } = this.#rest;
    if (this.#shown < held.length) return this.#pass(held[this.#shown++] as ModelPart);
    if (this.#isOver) return undefined;
    if (!this.#isFinished) watch?.expect("next part", partMs);
    try {
      const next = source.next();
      return next instanceof Promise ? next.then(this.#take, this.#stop) : this.#take(next);
    } catch (cause) {
      return this.#stop(cause);
    }
  }

  cancel(reason?: unknown): Promise<void> {
    const { source, watch } = this.#rest;
    this.#isOver = true;
    watch?.abandon();
    return source.cancel(reason);
  }

  readonly #take = (part: ModelPart | undefined): ModelPart | undefined => {
    const { model, watch } = this.#rest;
    try {
      watch?.arrive();
      watch?.check();
    } catch (cause) {
      return this.#stop(cause);
    }
    if (part !== undefined) return this.#pass(part);
    // An error is made only where there is one: its stack costs more than the whole step.
    return this.#isFinished ? this.#end(undefined) : this.#end(cut(model));
  };

  readonly #stop = (cause: unknown): ModelPart | undefined => {
    const { abortSignal } = this.#rest.call;
    if (abortSignal?.aborted === true) throw toAbortError(abortSignal.reason);
    return this.#end(cause);
  };

  #pass(part: ModelPart): ModelPart {
    const { model, clock, watch } = this.#rest;
    if (part.type === "finish") {
      this.#isFinished = true;
      // There is nothing left to wait for; who does not read to the end leaves no timer behind.
      watch?.end();
    }
    if (part.type !== "error") return part;
    this.#hasFailed = true;
    return { ...part, error: toModelError(model, part.error, clock.now()) };
  }

  /** The source is at its end: whether that is right depends on whether the answer is. */
  #end(cause: unknown): ModelPart | undefined {
    const isRight = this.#isFinished || this.#isOver;
    this.#isOver = true;
    if (isRight) return undefined;
    const { model, clock, held, source, watch } = this.#rest;
    watch?.abandon();
    void source.cancel();
    held.push(interrupted);
    // Why it ended may have been said already.
    if (this.#hasFailed) return held[this.#shown++];
    return { type: "error", error: toModelError(model, cause, clock.now()) };
  }
}

const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };

/** How an answer ends that was broken off. */
const interrupted: ModelPart = {
  type: "finish",
  finishReason: { unified: "interrupted", raw: undefined },
  usage: { inputTokens: unknown, outputTokens: { total: undefined, text: undefined, reasoning: undefined } },
};
