import { expect, test } from "vitest";

import type { Model, ModelAnswer, ModelCall, ModelPart, ModelUsage } from "../../models/model.ts";
import type { PriceOf } from "../../models/prices/price-of.ts";
import { askForParts, wrapParts } from "../../models/shims/wrap-model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createUsers } from "../users.ts";
import { readSpent } from "./day-counters.ts";
import { withQuota } from "./paid-model.ts";
import type { Account } from "../../core/quotas.ts";
import { createQuotas } from "./quotas.ts";
import type { QuotaLimits } from "./quota-options.ts";

test("a model counts the tokens and the dollars of its answers, whole ones and those that come in parts", async () => {
  const { model, spent } = setUp({ tokens: 10_000, dollars: 1 });

  await model.doGenerate(question);
  const once = await spent();
  await readAll(model);

  expect(once).toEqual([150, 0.002]);
  expect(await spent()).toEqual([300, 0.004]);
});

test("the last answer may go over a quota, and nothing after it is asked", async () => {
  for (const limits of [{ tokens: 200 }, { dollars: 0.003 }]) {
    const { model, asked } = setUp(limits);
    await readAll(model);
    await model.doGenerate(question);

    const refused = { code: "quota-reached", details: { user: "ann", startsAgain: expect.any(String) as string } };
    await expect(readAll(model)).rejects.toMatchObject(refused);
    await expect(model.doGenerate(question)).rejects.toMatchObject(refused);
    expect(asked()).toBe(2);
  }
});

test("questions that are asked at once go over a quota by no more than their one answer", async () => {
  const { model, asked, spent } = setUp({ tokens: 1000 });
  // Each is taken for some 400 tokens before it is asked.
  const long = { prompt: [{ role: "user" as const, content: [{ type: "text" as const, text: "word ".repeat(400) }] }] };

  const answers = await Promise.allSettled(Array.from({ length: 10 }, () => model.doGenerate(long)));

  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(asked());
  expect(asked()).toBe(2);
  expect((await spent())[0]).toBe(300);
});

test("a question that is refused takes nothing, of neither quota", async () => {
  const { model, spent } = setUp({ tokens: 1000, dollars: 0 });

  await expect(readAll(model)).rejects.toMatchObject({ details: { quota: "dollars", limit: 0, used: 0 } });
  expect(await spent()).toEqual([0, 0]);
});

test("a question that fails before there is an answer costs nothing", async () => {
  const broken = setUp({ tokens: 1000, dollars: 1 }, { fails: true });
  await expect(broken.model.doGenerate(question)).rejects.toThrow("down");
  await expect(readAll(broken.model)).rejects.toThrow("down");
  const said = setUp(
    { tokens: 1000 },
    {
      parts: [
        { type: "stream-start", warnings: [] },
        { type: "error", error: 5 },
      ],
    },
  );
  await readAll(said.model);

  expect(await broken.spent()).toEqual([0, 0]);
  expect((await said.spent())[0]).toBe(0);
});

test("an answer that breaks off, is cancelled, or whose usage is not told counts as what it looks like", async () => {
  const cut = setUp({ tokens: 1000 }, { parts: [delta("one two three four"), new Error("lost")] });
  await expect(readAll(cut.model)).rejects.toThrow("lost");
  const cancelled = setUp({ tokens: 1000, dollars: 1 });
  const { source } = await askForParts(cancelled.model, question);
  await source.next();
  await source.cancel();
  await source.cancel();
  const silent = setUp({ tokens: 1000 }, { parts: [delta("one two three four"), finish(toUsage(undefined, -5))] });
  await readAll(silent.model);
  const whole = setUp({ tokens: 1000 }, { usage: toUsage(Number.NaN, undefined) });
  await whole.model.doGenerate(question);

  for (const { spent } of [cut, cancelled, silent, whole]) {
    const [tokens] = await spent();
    expect(tokens).toBeGreaterThan(3);
    expect(tokens).toBeLessThan(100);
  }
});

test("an answer costs what the model costs that gave it", async () => {
  const by = setUp({ dollars: 1 }, { parts: [finish(toUsage(100, 50), "acme/dear")] });
  await readAll(by.model);
  const named = setUp(
    { dollars: 1 },
    { parts: [{ type: "response-metadata", modelId: "dear" }, finish(toUsage(100, 50))] },
  );
  await readAll(named.model);
  const unknown = setUp(
    { dollars: 1 },
    { parts: [{ type: "response-metadata", modelId: "new" }, finish(toUsage(100, 50))] },
  );
  await readAll(unknown.model);
  const strange = setUp({ dollars: 1 }, { parts: [finish(toUsage(100, 50), "acme/odd")], isOdd: true });
  await readAll(strange.model);

  expect([await by.spent(), await named.spent(), await unknown.spent(), await strange.spent()]).toEqual([
    [0, 0.2],
    [0, 0.2],
    [0, 0.002],
    // What it cost is not known: all that was left.
    [0, 1],
  ]);
});

test("a model whose price is not known is refused if there is a quota in dollars, and only then", async () => {
  const dollars = setUp({ dollars: 1 }, { isPriced: false });
  const tokens = setUp({ tokens: 1000 }, { isPriced: false });

  await expect(dollars.model.doGenerate(question)).rejects.toMatchObject({
    code: "price-unknown",
    details: { model: "acme/cheap" },
  });
  expect(dollars.asked()).toBe(0);
  await tokens.model.doGenerate(question);
});

test("users without quotas of tokens or dollars are asked for nothing", async () => {
  for (const limits of [{}, { calls: 1 }]) {
    const { model, asked, spent } = setUp(limits);
    await model.doGenerate({ ...question, tools: [{ type: "function", name: "look", inputSchema: {} }] });
    await readAll(model);

    expect(asked()).toBe(2);
    expect(await spent()).toEqual([0, 0]);
  }
});

test("tools that a model is shown count before it is asked", async () => {
  const { model } = setUp({ tokens: 500 });
  const description = "word ".repeat(1000);
  const tools = [{ type: "function" as const, name: "look", description, inputSchema: {} }];

  await expect(model.doGenerate({ ...question, tools })).rejects.toMatchObject({ code: "quota-reached" });
});

const question: ModelCall = {
  prompt: [{ role: "user", content: [{ type: "text", text: "How warm is it in Rome?" }] }],
};

function toUsage(input: number | undefined, output: number | undefined): ModelUsage {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function delta(text: string): ModelPart {
  return { type: "text-delta", id: "1", delta: text };
}

function finish(usage: ModelUsage, by?: string): ModelPart {
  const providerMetadata = by === undefined ? {} : { providerMetadata: { kitbag: { model: by } } };
  return { type: "finish", usage, finishReason: { unified: "stop", raw: undefined }, ...providerMetadata };
}

interface Wishes {
  readonly usage?: ModelUsage;
  readonly parts?: readonly (ModelPart | Error)[];
  readonly fails?: boolean;
  readonly isPriced?: boolean;
  /** The price is known until the answer is there. */
  readonly isOdd?: boolean;
}

interface Stage {
  readonly model: Model;
  asked(): number;
  /** Tokens and dollars. */
  spent(): Promise<readonly [number, number]>;
}

/** A model that has quotas, answers with 100 + 50 tokens, and costs 0.00001 dollars for a token of input and 0.00002 of output. */
function setUp(limits: QuotaLimits, { usage = toUsage(100, 50), ...wishes }: Wishes = {}): Stage {
  const {
    parts = [delta("one two three four"), finish(usage)],
    fails = false,
    isPriced = true,
    isOdd = false,
  } = wishes;
  let asked = 0;
  const ask = (): void => {
    asked += 1;
    if (fails) throw new Error("down");
  };
  const inner = wrapParts(
    { provider: "acme", modelId: "cheap", supportedUrls: {} },
    {
      async doGenerate(): Promise<ModelAnswer> {
        ask();
        const content: ModelAnswer["content"] = [
          { type: "text", text: "one two three four" },
          { type: "tool-call", toolCallId: "1", toolName: "look", input: "{}" },
        ];
        return { content, usage, finishReason: { unified: "stop", raw: undefined }, warnings: [] };
      },
      async ask() {
        ask();
        const left = [...parts];
        const next = (): ModelPart | undefined => {
          const part = left.shift();
          if (part instanceof Error) throw part;
          return part;
        };
        return { source: { next, cancel: async () => {} } };
      },
    },
  );
  const store = memoryStore();
  const quotas = createQuotas({ options: { each: limits }, store, users: createUsers(undefined) });
  const priceOf: PriceOf = (modelId, { inputTokens, outputTokens }) => {
    if (!isPriced || modelId === "new" || (isOdd && (outputTokens.total ?? 0) > 0)) return undefined;
    const price = ((inputTokens.total ?? 0) + 2 * (outputTokens.total ?? 0)) / 100_000;
    return modelId === "dear" ? 100 * price : price;
  };
  const account = { user: "ann", key: "ann", limits: {}, origins: {} } satisfies Account;
  return {
    model: withQuota(inner, { quotas, user: "ann", findPrice: () => priceOf }),
    asked: () => asked,
    spent: async () => [await readSpent(store.kv, account, "tokens"), await readSpent(store.kv, account, "dollars")],
  };
}

async function readAll(model: Model): Promise<void> {
  const { source } = await askForParts(model, question);
  while ((await source.next()) !== undefined);
}
