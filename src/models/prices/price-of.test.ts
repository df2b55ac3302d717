import { calcPrice, waitForUpdate } from "@pydantic/genai-prices";
import { expect, test, vi } from "vitest";

import { isKitbagError } from "../../core/errors.ts";
import type { Model, ModelUsage } from "../model.ts";
import type { OwnPrice } from "./own-prices.ts";
import { createPriceOf } from "./price-of.ts";

test("createPriceOf() tells the price of input and output", async () => {
  const priceOf = await createPriceOf(fakeModel("openai.responses", "gpt-4o"));

  const cost = priceOf("gpt-4o", usage({ input: 1_000_000, output: 1_000_000 }));

  expect(cost).toBe(2.5 + 10);
});

test("createPriceOf() takes less for input from the cache, which is a part of the input", async () => {
  const priceOf = await createPriceOf(fakeModel("openai.chat", "gpt-4o"));

  const cost = priceOf("gpt-4o", usage({ input: 1000, cacheRead: 600, output: 0 }));

  expect(cost).toBeCloseTo((400 * 2.5 + 600 * 1.25) / 1e6, 12);
});

test("createPriceOf() takes more for input that is written to the cache, and for an hour more than for minutes", async () => {
  const priceOf = await createPriceOf(fakeModel("anthropic.messages", "claude-sonnet-4-5"));
  const written = usage({ input: 10_000, cacheWrite: 10_000, output: 0 });

  const minutes = priceOf("claude-sonnet-4-5", written);
  const hour = priceOf("claude-sonnet-4-5", {
    ...written,
    raw: { cache_creation: { ephemeral_1h_input_tokens: 10_000 } },
  });

  expect(minutes).toBeCloseTo(0.0375, 12);
  expect(hour).toBeCloseTo(0.06, 12);
});

test("createPriceOf() takes the price of long inputs for all of a long input", async () => {
  const priceOf = await createPriceOf(fakeModel("google.generative-ai", "gemini-3-pro-preview"));

  const short = priceOf("gemini-3-pro-preview", usage({ input: 200_000, output: 1000 }));
  const long = priceOf("gemini-3-pro-preview", usage({ input: 200_001, output: 1000 }));

  expect(short).toBeCloseTo(0.4 + 0.012, 9);
  expect(long).toBeCloseTo(0.800_004 + 0.018, 9);
});

test("createPriceOf() takes the price of the day, and looks again when a day may have ended", async () => {
  let time = Date.parse("2026-08-20T23:59:59Z");
  const priceOf = await createPriceOf(fakeModel("openai.responses", "gpt-5.6-sol"), { now: () => time });
  const used = usage({ input: 100_000, output: 0 });

  const before = priceOf("gpt-5.6-sol", used);
  time = Date.parse("2026-08-21T00:01:00Z");
  const after = priceOf("gpt-5.6-sol", used);

  expect([before, after]).toEqual([0.5, 0.4]);
});

test("createPriceOf() takes the price of the hour", async () => {
  let time = Date.parse("2026-09-20T00:59:00Z");
  const priceOf = await createPriceOf(fakeModel("deepseek.chat", "deepseek-v4-pro"), { now: () => time });
  const used = usage({ input: 1_000_000, output: 1_000_000 });

  const night = priceOf("deepseek-v4-pro", used);
  time = Date.parse("2026-09-20T01:00:00Z");
  const morning = priceOf("deepseek-v4-pro", used);

  expect(night).toBe(byPackage("deepseek", "deepseek-v4-pro", used, "2026-09-20T00:59:00Z"));
  expect(morning).toBe(byPackage("deepseek", "deepseek-v4-pro", used, "2026-09-20T01:00:00Z"));
  expect(morning).not.toBe(night);
});

test("createPriceOf() takes reasoning as its own price where there is one, and as output otherwise", async () => {
  const research = await createPriceOf(fakeModel("perplexity", "sonar-deep-research"));
  const usual = await createPriceOf(fakeModel("openai.responses", "o3"));
  const used = usage({ input: 0, output: 1_000_000, reasoning: 1_000_000 });

  expect(research("sonar-deep-research", used)).toBe(3);
  expect(usual("o3", used)).toBe(8);
});

test("createPriceOf() agrees with the package about every model it has, for usual and for long inputs", async () => {
  const providers = (await waitForUpdate()) ?? [];
  const time = "2026-11-16T12:00:00Z";
  const uses = [
    usage({ input: 1234, cacheRead: 200, cacheWrite: 34, output: 567 }),
    usage({ input: 500_000, cacheRead: 400_000, output: 10_000, reasoning: 9000 }),
  ];
  const differences: string[] = [];
  let compared = 0;

  for (const { id: provider, models } of providers) {
    for (const { id } of models) {
      const priceOf = await createPriceOf(fakeModel(provider, id), { now: () => Date.parse(time) });
      for (const used of uses) {
        const cost = priceOf(id, used);
        if (cost === undefined) continue;
        compared += 1;
        const expected = byPackage(provider, id, used, time) ?? Number.NaN;
        if (Math.abs(cost - expected) > 1e-9 * Math.max(1, expected))
          differences.push(`${provider}/${id}: ${cost}, ${expected}`);
      }
    }
  }

  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(3000);
});

test.for([
  ["openai.responses", "gpt-nobody-knows"],
  ["openai-compatible.chat", "gpt-4o"],
  ["my-own-server.chat", "claude-sonnet-4-5"],
  ["openai.responses", "whisper-1"],
  ["openai.responses", "__proto__"],
  ["__proto__", "gpt-4o"],
  ["", ""],
] as const)(
  "createPriceOf() does not know the price of %s %s, and does not say that it is 0",
  async ([provider, modelId]) => {
    const priceOf = await createPriceOf(fakeModel(provider, modelId));

    const cost = priceOf(modelId, usage({ input: 1000, output: 1000 }));

    expect(cost).toBeUndefined();
  },
);

test.for(["kitbag", "kitbag.local", "ollama.chat", "lmstudio.chat"])(
  "createPriceOf() knows that %s costs nothing, without loading any prices",
  async (provider) => {
    vi.resetModules();
    const { createPriceOf: fresh } = await import("./price-of.ts");
    const { knownModels } = await import("./known-models.ts");

    const priceOf = await fresh(fakeModel(provider, "anything"));

    expect(priceOf("anything", usage({ input: Number.NaN, output: 5 }))).toBe(0);
    expect(knownModels()).toBeUndefined();
  },
);

test("createPriceOf() asks nothing over the network", async () => {
  const asked: unknown[] = [];
  vi.stubGlobal("fetch", (...request: unknown[]) => {
    asked.push(request);
    throw new Error("no network");
  });

  const priceOf = await createPriceOf(fakeModel("anthropic.messages", "claude-sonnet-4-5"));
  const cost = priceOf("claude-sonnet-4-5", usage({ input: 1000, output: 1000 }));
  vi.unstubAllGlobals();

  expect(cost).toBeCloseTo(0.018, 12);
  expect(asked).toEqual([]);
});

test("createPriceOf() takes the price of a version that is not known from the model that was asked", async () => {
  const priceOf = await createPriceOf(fakeModel("openai.responses", "o3"));

  expect(priceOf("o3-2031-01-01", usage({ input: 1_000_000, output: 0 }))).toBe(2);
  expect(priceOf("some-other-model", usage({ input: 1_000_000, output: 0 }))).toBeUndefined();
});

test("createPriceOf() takes one's own prices first: a whole name, then the longest beginning", async () => {
  const price = (input: number): OwnPrice => ({ input, output: 0 });
  const prices = { "*": price(1), "openai/*": price(2), "openai/gpt-4*": price(3), "openai/gpt-4o": price(4) };
  const used = usage({ input: 1_000_000, output: 1_000_000 });
  const costOf = async (provider: string, id: string): Promise<number | undefined> =>
    (await createPriceOf(fakeModel(provider, id), { prices }))(id, used);

  expect(await costOf("openai.responses", "gpt-4o")).toBe(4);
  expect(await costOf("openai.responses", "gpt-4o-mini")).toBe(3);
  expect(await costOf("openai.responses", "o3")).toBe(2);
  expect(await costOf("ollama.chat", "qwen3")).toBe(1);
});

test("createPriceOf() takes one's own prices for cached input and reasoning, and those of input and output without", async () => {
  const used = usage({
    input: 3_000_000,
    cacheRead: 1_000_000,
    cacheWrite: 1_000_000,
    output: 2_000_000,
    reasoning: 1_000_000,
  });
  const all = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 1.25, reasoning: 20 };
  const model = fakeModel("mine", "m");

  const whole = await createPriceOf(model, { prices: { "mine/m": all } });
  const plain = await createPriceOf(model, { prices: { "mine/m": { input: 1, output: 10 } } });

  expect(whole("m", used)).toBeCloseTo(1 + 0.1 + 1.25 + 10 + 20, 12);
  expect(plain("m", used)).toBe(3 + 20);
});

test("createPriceOf() refuses a price for what can be no model", async () => {
  const made = createPriceOf(fakeModel("openai.chat", "gpt-4o"), { prices: { "gpt-4o": { input: 1, output: 1 } } });

  await expect(made).rejects.toThrow('found "gpt-4o", expected "provider/model", or a beginning of it with * behind');
});

test.for([
  [{ input: Number.NaN, output: 1 }, "prices.openai/*.input"],
  [{ input: 1, output: -1 }, "prices.openai/*.output"],
  [{ input: 1, output: Infinity }, "prices.openai/*.output"],
  [{ input: 1 }, "prices.openai/*.output"],
  [{ input: 1, output: 1, cacheRead: "0.1" }, "prices.openai/*.cacheRead"],
  [{ input: 1, output: 1, cached: 0.1 }, "prices.openai/*.cached"],
  [null, "prices.openai/*"],
  [3, "prices.openai/*"],
] as const)("createPriceOf() refuses %j as a price", async ([price, option]) => {
  const prices = { "openai/*": price as unknown as OwnPrice };

  const cause = await createPriceOf(fakeModel("openai.chat", "gpt-4o"), { prices }).catch((cause_: unknown) => cause_);

  expect(isKitbagError(cause, "option-invalid") && cause.details.option).toBe(option);
});

test.for([
  ["no input", usage({ output: 5 })],
  ["no output", usage({ input: 5 })],
  ["NaN", usage({ input: Number.NaN, output: 5 })],
  ["less than nothing", usage({ input: -1, output: 5 })],
  ["endless", usage({ input: 1, output: Infinity })],
  ["more than can be counted", usage({ input: 1e300, output: 1 })],
  ["nothing at all", {} as ModelUsage],
  ["texts", { inputTokens: { total: "5" }, outputTokens: { total: "5" } } as unknown as ModelUsage],
] as const)("createPriceOf() does not know what an answer costs whose usage is %s", async ([, used]) => {
  const priceOf = await createPriceOf(fakeModel("openai.chat", "gpt-4o"));

  expect(priceOf("gpt-4o", used)).toBeUndefined();
});

test("createPriceOf() adds up the parts if a provider does not tell the whole, and believes parts that are larger", async () => {
  const priceOf = await createPriceOf(fakeModel("mine", "m"), {
    prices: { "mine/m": { input: 1, output: 2, cacheRead: 0.5 } },
  });
  const parts: ModelUsage = {
    inputTokens: { total: undefined, noCache: 1_000_000, cacheRead: 2_000_000, cacheWrite: undefined },
    outputTokens: { total: undefined, text: 1_000_000, reasoning: 500_000 },
  };

  expect(priceOf("m", parts)).toBe(1 + 1 + 3);
  expect(priceOf("m", usage({ input: 10, cacheRead: 2_000_000, output: 0 }))).toBe(1);
});

test("createPriceOf() remembers few of many names", async () => {
  const priceOf = await createPriceOf(fakeModel("openai.chat", "gpt-4o"));
  const used = usage({ input: 1_000_000, output: 0 });

  for (let index = 0; index < 500; index++) priceOf(`gpt-4o-${index}`, used);

  expect(priceOf("gpt-4o", used)).toBe(2.5);
});

test("createPriceOf() takes the price of who answered, if the model is several", async () => {
  const priceOf = await createPriceOf(fakeModel("openai.chat", "gpt-4o"), {
    prices: { "mine/*": { input: 7, output: 7 } },
  });
  const used = usage({ input: 1_000_000, output: 0 });

  expect(priceOf("claude-sonnet-4-5", usage({ input: 100_000, output: 0 }), "anthropic/claude-sonnet-4-5")).toBeCloseTo(
    0.3,
    12,
  );
  expect(priceOf("o3-2031-01-01", used, "openai/o3")).toBe(2);
  expect(priceOf("m", used, "mine/m")).toBe(7);
  expect(priceOf("qwen3", usage({}), "ollama/qwen3")).toBe(0);
  expect(priceOf("gpt-4o", used, "nobody/gpt-4o")).toBeUndefined();
  expect(priceOf("gpt-4o", used, "gpt-4o")).toBeUndefined();
  expect(priceOf("gpt-4o", used)).toBe(2.5);
});

test("createPriceOf() does not take an answer for free because another model of several is", async () => {
  vi.resetModules();
  const { createPriceOf: fresh } = await import("./price-of.ts");
  const { loadKnownModels } = await import("./known-models.ts");
  const priceOf = await fresh(fakeModel("ollama.chat", "qwen3"));
  const used = usage({ input: 1_000_000, output: 0 });

  const before = priceOf("gpt-4o", used, "openai/gpt-4o");
  await loadKnownModels();
  const after = priceOf("gpt-4o", used, "openai/gpt-4o");

  expect([before, after]).toEqual([undefined, 2.5]);
});

interface Used {
  readonly input?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
  readonly reasoning?: number;
}

function usage({ input, cacheRead, cacheWrite, output, reasoning }: Used): ModelUsage {
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning },
  };
}

function byPackage(providerId: string, modelId: string, used: ModelUsage, time: string): number | undefined {
  const { inputTokens, outputTokens } = used;
  const counts = {
    input_tokens: inputTokens.total,
    cache_read_tokens: inputTokens.cacheRead ?? 0,
    cache_write_tokens: inputTokens.cacheWrite ?? 0,
    output_tokens: outputTokens.total,
    output_reasoning_tokens: outputTokens.reasoning ?? 0,
  };
  return calcPrice(counts, modelId, { providerId, timestamp: new Date(time) })?.total_price;
}

function fakeModel(provider: string, modelId: string): Model {
  const unasked = (): never => {
    throw new Error("nobody asks");
  };
  return { specificationVersion: "v4", provider, modelId, supportedUrls: {}, doGenerate: unasked, doStream: unasked };
}
