import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";

import { expect, test } from "vitest";

import {
  apiError,
  fakeClock,
  finishPart,
  question,
  readParts,
  scriptedModel,
  textOf,
  textParts,
  type FakeClock,
  type Turn,
} from "../../../test/support/scripted-models.ts";
import { isKitbagError, type KitbagError } from "../../core/errors.ts";
import type { Model, ModelPart } from "../model.ts";
import { withRetries, type Retry, type RetryOptions } from "./with-retries.ts";

const overloaded: Turn = { fails: apiError(529, "Overloaded") };
const good: Turn = { parts: textParts("Hel", "lo") };

test("withRetries() passes on an answer part for part", async () => {
  const model = withRetries(scriptedModel([good]));

  expect(await readParts(model)).toEqual(good.parts);
  expect((await model.doGenerate(question)).content).toEqual([{ type: "text", text: "Hello" }]);
});

test("withRetries() passes a part on before the next one is there", async () => {
  const model = withRetries(scriptedModel([{ parts: textParts("Hel").slice(0, 4), then: "hang" }]));

  const reader = (await model.doStream(question)).stream.getReader();
  const read = [await reader.read(), await reader.read(), await reader.read(), await reader.read()];
  await reader.cancel();

  expect(read.at(-1)?.value).toEqual({ type: "text-delta", id: "1", delta: "Hel" });
});

test.for([
  ["408", apiError(408)],
  ["409", apiError(409)],
  ["429", apiError(429)],
  ["500", apiError(500)],
  ["502", apiError(502)],
  ["503", apiError(503)],
  ["529", apiError(529)],
  ["no connection", apiError(undefined, "Cannot connect to API: connect ECONNREFUSED")],
  ["a failed fetch", new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) })],
  ["a broken socket", Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })],
] as const)("withRetries() asks again after %s", async ([, fails]) => {
  const clock = fakeClock();
  const inner = scriptedModel([{ fails }, { fails }, good]);

  const asked = readParts(withRetries(inner, { clock }));
  await clock.advance(60_000);

  expect(textOf(await asked)).toBe("Hello");
  expect(inner.calls).toHaveLength(3);
});

test.for([
  [400, "model-refused"],
  [401, "model-denied"],
  [403, "model-denied"],
  [404, "model-refused"],
  [413, "model-context-exceeded"],
  [422, "model-refused"],
  [402, "model-overloaded"],
] as const)("withRetries() does not ask again after %s, which is %s", async ([status, code]) => {
  const inner = scriptedModel([{ fails: apiError(status) }, good]);

  const error = await failureOf(readParts(withRetries(inner)));

  expect(error).toMatchObject({ code, details: { model: "acme/one", status } });
  expect(inner.calls).toHaveLength(1);
});

test("withRetries() does not ask again when a quota is spent, though the status is that of a rate limit", async () => {
  const inner = scriptedModel([{ fails: apiError(429, "quota", { data: { error: { code: "insufficient_quota" } } }) }]);

  const error = await failureOf(readParts(withRetries(inner)));

  expect(error.code).toBe("model-overloaded");
  expect(inner.calls).toHaveLength(1);
});

test("withRetries() waits twice as long each time, a part of it by chance", async () => {
  const waits = await waitsOf({ maxRetries: 5, firstDelayMs: 1000, maxDelayMs: 6000 }, overloaded);
  const longest = await waitsOf({ maxRetries: 5, firstDelayMs: 1000, maxDelayMs: 6000, random: () => 1 }, overloaded);

  expect(waits).toEqual([500, 1000, 2000, 3000, 3000]);
  expect(longest).toEqual([1000, 2000, 4000, 6000, 6000]);
});

test.for([
  [{ "retry-after": "7" }, 7000],
  [{ "Retry-After": " 1.5 " }, 1500],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
  [{ "retry-after": "Mon, 16 Nov 2026 00:00:20 GMT" }, 20_000],
  [{ "retry-after": "Mon, 16 Nov 2020 00:00:20 GMT" }, 0],
  [{ "retry-after": "0" }, 0],
] as const)("withRetries() waits as long as %j says", async ([responseHeaders, waitMs]) => {
  const waits = await waitsOf({ maxRetries: 1 }, { fails: apiError(429, "slow", { responseHeaders }) });

  expect(waits).toEqual([waitMs]);
});

test.for([408, 500, 502, 503, 504, 529])(
  "withRetries() waits as long as a provider says after %s too",
  async (status) => {
    const responseHeaders = { "retry-after": "7" };

    const waits = await waitsOf({ maxRetries: 1 }, { fails: apiError(status, "slow", { responseHeaders }) });

    expect(waits).toEqual([7000]);
  },
);

test("withRetries() does not ask again when the provider says that it makes no sense", async () => {
  const responseHeaders = { "X-Should-Retry": "false" };
  const inner = scriptedModel([{ fails: apiError(429, "slow", { responseHeaders }) }, good]);

  const error = await failureOf(readParts(withRetries(inner)));

  expect(error.code).toBe("model-overloaded");
  expect(inner.calls).toHaveLength(1);
});

test.for(["-1", "soon", "", "NaN", "Infinity", "1e9", "7; DROP TABLE", "9".repeat(400)])(
  "withRetries() waits its own time when retry-after is %j",
  async (after) => {
    const fails = apiError(429, "slow", { responseHeaders: { "retry-after": after } });

    expect(await waitsOf({ maxRetries: 1, firstDelayMs: 1000 }, { fails })).toEqual([500]);
  },
);

test.for([
  ["34s", 34_000],
  ["134.074824224s", 134_074.824224],
] as const)("withRetries() waits as long as Google writes into the body: %s", async ([retryDelay, waitMs]) => {
  const responseBody = JSON.stringify({ error: { details: [{ "@type": "RetryInfo", retryDelay }] } });
  const options = { maxRetries: 1, maxRetryAfterMs: 200_000 };

  expect(await waitsOf(options, { fails: apiError(429, "slow", { responseBody }) })).toEqual([waitMs]);
});

test("withRetries() does not wait longer than it may: it says when to come back", async () => {
  const responseHeaders = { "retry-after": "3600" };
  const inner = scriptedModel([{ fails: apiError(429, "slow", { responseHeaders }) }]);

  const error = await failureOf(readParts(withRetries(inner, { maxRetryAfterMs: 60_000 })));

  expect(error).toMatchObject({ code: "model-overloaded", details: { retryAfterMs: 3_600_000 } });
  expect(error.message).toContain("retry after 3600 s");
  expect(inner.calls).toHaveLength(1);
});

test("withRetries() gives up after maxRetries, with the last error", async () => {
  const clock = fakeClock();
  const inner = scriptedModel([{ fails: apiError(500, "first") }, { fails: apiError(503, "last") }]);

  const asked = failureOf(readParts(withRetries(inner, { clock, maxRetries: 2 })));
  await clock.advance(60_000);

  expect(await asked).toMatchObject({ code: "model-overloaded", details: { reason: "last", status: 503 } });
  expect(inner.calls).toHaveLength(3);
  expect(clock.running()).toBe(0);
});

test("withRetries() around withRetries() asks no more often than the one inside", async () => {
  const clock = fakeClock();
  const inner = scriptedModel([overloaded]);

  const asked = failureOf(readParts(withRetries(withRetries(inner, { clock, maxRetries: 2 }), { clock })));
  await clock.advance(600_000);

  expect((await asked).code).toBe("model-overloaded");
  expect(inner.calls).toHaveLength(3);
});

test("withRetries() asks again when an error comes before anything of the answer", async () => {
  const clock = fakeClock();
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const beginning: ModelPart[] = [...textParts().slice(0, 3), { type: "ping" }, { type: "raw", rawValue: 1 }];
  const inner = scriptedModel([
    { parts: [...beginning, { type: "error", error }] },
    {
      parts: [...beginning, { type: "text-delta", id: "1", delta: "" }],
      then: { breaks: new TypeError("terminated") },
    },
    { parts: beginning },
    good,
  ]);

  const asked = readParts(withRetries(inner, { clock }));
  await clock.advance(60_000);

  expect(await asked).toEqual(good.parts);
  expect(inner.calls).toHaveLength(4);
});

test.for(["interrupted", "error"] as const)(
  "withRetries() asks again when an empty answer ends as %s",
  async (unified) => {
    const clock = fakeClock();
    const inner = scriptedModel([{ parts: [finishPart(unified)] }, good]);

    const asked = readParts(withRetries(inner, { clock }));
    await clock.advance(60_000);

    expect(textOf(await asked)).toBe("Hello");
  },
);

test.for(["interrupted", "error"] as const)(
  "withRetries() asks again when a whole answer ends as %s",
  async (reason) => {
    const clock = fakeClock();
    const model = withRetries(scriptedModel([{ parts: [finishPart(reason)] }, good]), { clock });

    const asked = model.doGenerate(question);
    await clock.advance(60_000);

    expect(await asked).toMatchObject({ finishReason: { unified: "stop" } });
  },
);

test("withRetries() takes an answer with nothing in it as an answer", async () => {
  const parts: ModelPart[] = [{ type: "stream-start", warnings: [] }, finishPart("stop")];

  expect(await readParts(withRetries(scriptedModel([{ parts }])))).toEqual(parts);
});

test.for([
  ["the connection breaks", { parts: textParts("Hel").slice(0, 4), then: { breaks: new TypeError("terminated") } }],
  ["the answer ends without an end", { parts: textParts("Hel").slice(0, 4) }],
] as const)("withRetries() never asks again once something was shown, though %s", async ([, turn]) => {
  const inner = scriptedModel([turn, good]);

  const parts = await readParts(withRetries(inner));

  expect(textOf(parts)).toBe("Hel");
  expect(parts.at(-2)).toMatchObject({ type: "error", error: { code: "model-unavailable" } });
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified: "interrupted" } });
  expect(inner.calls).toHaveLength(1);
});

test("withRetries() says in its own words what an error part in the middle of an answer is", async () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const turn: Turn = { parts: [...textParts("Hel").slice(0, 4), { type: "error", error }, finishPart("error")] };

  const parts = await readParts(withRetries(scriptedModel([turn, good])));

  expect(parts.slice(4)).toMatchObject([
    { type: "error", error: { code: "model-overloaded", details: { reason: "Overloaded" } } },
    { type: "finish", finishReason: { unified: "error" } },
  ]);
});

test("withRetries() passes on parts that nobody knows", async () => {
  const news = { type: "news-of-tomorrow", value: 1 } as unknown as ModelPart;
  const parts = [news, ...textParts("a"), news];

  expect(await readParts(withRetries(scriptedModel([{ parts }])))).toEqual(parts);
});

test.for([
  ["nothing comes", { hangs: true }, "first part", 1000],
  ["only a beginning comes", { parts: textParts().slice(0, 3), then: "hang" }, "first part", 1000],
] as const)("withRetries() asks again when %s in time", async ([, turn, phase, limitMs]) => {
  const clock = fakeClock();
  const seen: Retry[] = [];
  const inner = scriptedModel([turn, good]);

  const asked = readParts(withRetries(inner, { clock, firstPartMs: 1000, onRetry: (retry) => seen.push(retry) }));
  await clock.advance(10_000);

  expect(textOf(await asked)).toBe("Hello");
  expect(seen).toMatchObject([{ attempt: 1, error: { code: "model-timeout", details: { phase, limitMs } } }]);
  expect(inner.calls[0]?.abortSignal?.aborted).toBe(true);
  expect(clock.running()).toBe(0);
});

test.for([
  ["anthropic.messages", 60_000],
  ["google.generative-ai", 120_000],
  ["openai.responses", 60_000],
  ["openai.chat", 120_000],
  ["ollama.chat", 300_000],
  ["acme", 60_000],
] as const)("withRetries() waits for a model of %s %i ms, and once more", async ([provider, limitMs]) => {
  const clock = fakeClock();
  const inner = scriptedModel([{ hangs: true }], { provider });

  const asked = failureOf(readParts(withRetries(inner, { clock, random: () => 0 })));
  await clock.advance(limitMs * 2 + 1000);

  expect(await asked).toMatchObject({ code: "model-timeout", details: { phase: "first part", limitMs } });
  expect(inner.calls).toHaveLength(2);
});

test("withRetries() waits longer for a model that says that it thinks", async () => {
  const clock = fakeClock();
  const thinking: Turn = { parts: [{ type: "reasoning-start", id: "1" }], then: "hang" };
  const ask = (options: RetryOptions): Promise<unknown> =>
    failureOf(readParts(withRetries(scriptedModel([thinking]), { clock, maxRetries: 0, ...options })));

  const asked = [ask({}), ask({ firstPartMs: 1000 })];
  await clock.advance(300_000);

  expect(await Promise.all(asked)).toMatchObject([{ details: { limitMs: 300_000 } }, { details: { limitMs: 1000 } }]);
});

test("withRetries() adds no usual time limits to those of a model inside", async () => {
  const clock = fakeClock();
  const patient = withRetries(scriptedModel([{ hangs: true }]), { clock, firstPartMs: 400_000, maxRetries: 0 });
  const asked = [
    failureOf(readParts(withRetries(patient, { clock }))),
    failureOf(readParts(withRetries(patient, { clock, firstPartMs: 5000, maxRetries: 0 }))),
  ];
  await clock.advance(400_000);

  expect(await Promise.all(asked)).toMatchObject([{ details: { limitMs: 400_000 } }, { details: { limitMs: 5000 } }]);
});

test("withRetries() breaks off when the next part does not come in time", async () => {
  const clock = fakeClock();
  const inner = scriptedModel([{ parts: textParts("Hel").slice(0, 4), then: "hang" }]);

  const asked = readParts(withRetries(inner, { clock, partMs: 2000 }));
  await clock.advance(1999);
  const before = inner.cancelled();
  await clock.advance(1);

  expect(before).toBe(0);
  expect((await asked).slice(4)).toMatchObject([
    { type: "error", error: { code: "model-timeout", details: { phase: "next part", limitMs: 2000 } } },
    { type: "finish", finishReason: { unified: "interrupted" } },
  ]);
  expect(inner.cancelled()).toBe(1);
});

test("withRetries() gives each part its own time, and counts none while nobody reads", async () => {
  const clock = fakeClock();
  const model = withRetries(scriptedModel([{ parts: textParts("a", "b", "c", "d") }]), {
    clock,
    partMs: 1000,
    firstPartMs: 1000,
  });

  const { stream } = await model.doStream(question);
  const parts: ModelPart[] = [];
  for await (const part of stream) {
    parts.push(part);
    await clock.advance(5000);
  }

  expect(textOf(parts)).toBe("abcd");
  expect(clock.running()).toBe(0);
});

test("withRetries() gives the whole request its time, with or without a stream", async () => {
  const clock = fakeClock();
  const model = withRetries(scriptedModel([{ hangs: true }]), { clock, requestMs: 3000, maxRetries: 0 });

  const asked = [failureOf(readParts(model)), failureOf(model.doGenerate(question))];
  await clock.advance(3000);

  const late = { code: "model-timeout", details: { model: "acme/one", phase: "request", limitMs: 3000 } };
  expect(await Promise.all(asked)).toMatchObject([late, late]);
});

test("withRetries() leaves no timer behind when only the end of an answer is not read", async () => {
  const clock = fakeClock();
  const { stream } = await withRetries(scriptedModel([good]), { clock, requestMs: 9000 }).doStream(question);

  const reader = stream.getReader();
  for (;;) {
    const { value } = await reader.read();
    if (value?.type === "finish") break;
  }

  expect(clock.running()).toBe(0);
});

test("withRetries() ends at once when the signal was aborted before", async () => {
  const inner = scriptedModel([good]);
  const reason = new Error("not any more");
  const call = { ...question, abortSignal: AbortSignal.abort(reason) };

  await expect(readParts(withRetries(inner), call)).rejects.toBe(reason);
  await expect(Promise.resolve(withRetries(inner).doGenerate(call))).rejects.toBe(reason);
});

test("withRetries() ends at once when it is aborted while it waits to ask again", async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const inner = scriptedModel([overloaded]);

  const asked = readParts(withRetries(inner, { clock }), { ...question, abortSignal: controller.signal });
  await setImmediate();
  controller.abort(new Error("stop"));

  await expect(asked).rejects.toThrow("stop");
  expect(inner.calls).toHaveLength(1);
  expect(clock.running()).toBe(0);
});

test.for([{ hangs: true }, { parts: textParts().slice(0, 3), then: "hang" }] as const)(
  "withRetries() ends at once when it is aborted before a model that does not listen has answered",
  async (turn) => {
    const controller = new AbortController();
    const inner = scriptedModel([turn]);

    const asked = readParts(withRetries(inner), { ...question, abortSignal: controller.signal });
    await setImmediate();
    controller.abort("enough");

    await expect(asked).rejects.toMatchObject({ name: "AbortError", message: "enough" });
    expect(inner.calls).toHaveLength(1);
  },
);

test("withRetries() ends at once when it is aborted in the middle of an answer", async () => {
  const controller = new AbortController();
  const inner = scriptedModel([{ parts: textParts("Hel").slice(0, 4), then: "hang" }]);
  const { stream } = await withRetries(inner).doStream({ ...question, abortSignal: controller.signal });

  const reader = stream.getReader();
  for (let part = 0; part < 4; part++) await reader.read();
  const next = reader.read();
  controller.abort(new Error("stop"));

  await expect(next).rejects.toThrow("stop");
});

test("withRetries() leaves nothing at the caller's signal, however often it is used", async () => {
  const { signal } = new AbortController();
  const model = withRetries(scriptedModel([good]));

  for (let turn = 0; turn < 20; turn++) await readParts(model, { ...question, abortSignal: signal });

  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("withRetries() stops the model when nobody wants the rest of the answer", async () => {
  const inner = scriptedModel([{ parts: textParts("Hel").slice(0, 4), then: "hang" }]);
  const { stream } = await withRetries(inner).doStream(question);

  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();

  expect(inner.cancelled()).toBe(1);
  expect(inner.calls[0]?.abortSignal?.aborted).toBe(true);
});

test("withRetries() cancels a stream that comes after its time", async () => {
  const clock = fakeClock();
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Model["doStream"]>>>();
  let cancelled = false;
  const slow: Model = { ...scriptedModel([good]), doStream: () => promise };

  const asked = failureOf(readParts(withRetries(slow, { clock, firstPartMs: 100, maxRetries: 0 })));
  await clock.advance(100);
  resolve({ stream: new ReadableStream({ cancel: () => void (cancelled = true) }) });
  await setImmediate();

  expect((await asked).code).toBe("model-timeout");
  expect(cancelled).toBe(true);
});

test("withRetries() names the key that a provider does not take", async () => {
  const inner = scriptedModel([{ fails: apiError(401, "Incorrect API key provided: sk-12****34") }], {
    provider: "openai.responses",
    modelId: "gpt-6-sol",
  });

  const { message } = await failureOf(readParts(withRetries(inner)));

  expect(message).toBe(
    'Cannot ask "openai/gpt-6-sol": the provider rejects this API key (wrong key, or none, status 401); check OPENAI_API_KEY or the "apiKey" that was passed, and that the key may use this model',
  );
});

test("withRetries() says what to do when there is no such model", async () => {
  const ollama = scriptedModel([{ fails: apiError(404, "model 'qwen9' not found") }], {
    provider: "ollama.chat",
    modelId: "qwen9",
  });
  const openai = scriptedModel([{ fails: apiError(404, "x") }], { provider: "openai.responses", modelId: "gpt-99" });

  const messages = await Promise.all(
    [ollama, openai].map(async (model) => (await failureOf(readParts(withRetries(model)))).message),
  );

  expect(messages).toEqual([
    expect.stringMatching(/run: ollama pull qwen9$/u),
    expect.stringMatching(/check the name of the model$/u),
  ]);
});

test.for([
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  "prompt is too long: 210000 tokens > 200000 maximum",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "the request exceeds the available context size, try increasing it",
])("withRetries() knows that the prompt was too long: %s", async (text) => {
  const error = await failureOf(readParts(withRetries(scriptedModel([{ fails: apiError(400, text) }]))));

  expect(error.code).toBe("model-context-exceeded");
});

test("withRetries() shows no key, header, prompt or body in an error", async () => {
  const secret = ["sk-proj", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"].join("-");
  const hidden = "the prompt of somebody";
  for (const status of [undefined, 200, 400, 401, 403, 429, 500]) {
    const fails = apiError(status, `It was ${secret}\n${"long ".repeat(1000)}`, {
      requestBodyValues: { prompt: hidden },
      responseBody: hidden,
      responseHeaders: { "set-cookie": hidden },
      data: { error: { message: hidden, param: hidden } },
      url: `https://host/?key=${secret}`,
      isRetryable: false,
    });
    const error = await failureOf(readParts(withRetries(scriptedModel([{ fails }]), { maxRetries: 0 })));

    const shown = inspect(error, { depth: 20 }) + JSON.stringify(error);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(hidden);
    expect(error.message.length).toBeLessThan(700);
  }
});

const throwables: readonly (readonly [name: string, make: () => unknown])[] = [
  ["nothing", () => undefined],
  ["null", () => null],
  ["a number", () => 0],
  ["an empty text", () => ""],
  ["a text", () => "boom"],
  ["an object", () => ({})],
  ["a list", () => []],
  ["a symbol", () => Symbol("x")],
  ["a function", () => () => {}],
  ["an object without a prototype", () => Object.create(null) as object],
  ["an error that is its own cause", ownCause],
  ["an object that throws when it is looked at", hostile],
];

test.for(throwables)("withRetries() makes an error of whatever is thrown: %s", async ([, make]) => {
  const model: Model = {
    ...scriptedModel([]),
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- others throw what they like
    doStream: () => Promise.reject(make()),
  };

  expect((await failureOf(readParts(withRetries(model)))).code).toBe("model-failed");
});

test("withRetries() makes an error of a model that throws before it promises anything", async () => {
  const model: Model = {
    ...scriptedModel([]),
    doStream() {
      throw new TypeError("a bug");
    },
  };

  const error = await failureOf(readParts(withRetries(model)));

  expect(error).toMatchObject({ code: "model-failed", details: { reason: "a bug" }, cause: { name: "TypeError" } });
});

test("withRetries() keeps an error that is ours", async () => {
  const ours = await failureOf(readParts(withRetries(scriptedModel([{ fails: apiError(400) }]))));

  await expect(readParts(withRetries(scriptedModel([{ fails: ours }])))).rejects.toBe(ours);
});

test.for([
  { maxRetries: -1 },
  { maxRetries: 1.5 },
  { maxRetries: Number.NaN },
  { maxRetries: Infinity },
  { maxRetries: "3" as unknown as number },
  { firstDelayMs: -1 },
  { maxDelayMs: Infinity },
  { requestMs: 0 },
  { firstPartMs: Number.NaN },
  { partMs: -5 },
])("withRetries() refuses the option %j", (options) => {
  expect(() => withRetries(scriptedModel([]), options)).toThrow(/^Cannot use "/u);
});

async function failureOf(work: PromiseLike<unknown>): Promise<KitbagError> {
  const cause = await Promise.resolve(work).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (isKitbagError(cause)) return cause;
  throw new Error("expected a KitbagError", { cause });
}

/** How long it waits each time that the model does the same. Chance adds nothing, unless told otherwise. */
async function waitsOf(options: RetryOptions, turn: Turn): Promise<number[]> {
  const clock: FakeClock = fakeClock();
  const waits: number[] = [];
  const onRetry = ({ waitMs }: Retry): number => waits.push(waitMs);
  const model = withRetries(scriptedModel([turn]), { clock, random: () => 0, onRetry, ...options });
  const asked = failureOf(readParts(model));
  await clock.advance(600_000);
  await asked;
  return waits;
}

function ownCause(): Error {
  const error = new Error("round and round");
  error.cause = error;
  return error;
}

function hostile(): object {
  return new Proxy(
    {},
    {
      get() {
        throw new Error("hands off");
      },
    },
  );
}
