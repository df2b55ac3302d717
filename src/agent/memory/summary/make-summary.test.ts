import { expect, test } from "vitest";

import type { ModelMessage, ModelPart } from "../../../models/model.ts";
import { mockModel, type MockModel, type MockScript } from "../../../testing/models/mock-model.ts";
import { answer, call, results, user } from "../../../../test/support/conversations.ts";
import type { MemoryOptions } from "../memory-options.ts";
import { createTokenCounter } from "../message-text.ts";
import { toUnits } from "../to-units.ts";
import { makeSummary, type MadeSummary } from "./make-summary.ts";

const said = "They found the invoice";
const counter = createTokenCounter({ provider: "", modelId: "" });
const messages = [
  user("Find the invoice of May. I prefer PDF."),
  call("a", "search", { month: "May" }),
  results(["a", { file: "may.pdf" }]),
  answer("I found may.pdf. We will use the first invoice. The invoice of May is in the folder."),
  user("Send it to the bank"),
  call("b", "send", {}),
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "b", toolName: "send", output: { type: "error-text", value: "No\nnetwork" } },
    ],
  },
] satisfies ModelMessage[];

test("makeSummary() picks what was asked for, decided, called and said", async () => {
  const { summary } = await make();

  expect(summary).toMatchInlineSnapshot(`
    {
      "how": "extractive",
      "text": "Decided and wanted:
    - I prefer PDF.
    - We will use the first invoice.
    Asked for:
    - Find the invoice of May. I prefer PDF.
    - Send it to the bank
    Calls and what came of them:
    - search({"month":"May"}) → {"file":"may.pdf"}
    - send() → failed: No network
    Also said:
    - The invoice of May is in the folder.",
    }
  `);
});

test("makeSummary() keeps within its tokens, and prefers what was decided to what was called", async () => {
  const long = Array.from({ length: 300 }, (_, index) => [
    user(`Request number ${index}: look at item ${index}, please`),
    call("a", "look", { item: index }),
    results(["a", `Item ${index} is fine`]),
  ]).flat();

  const { summary } = await make({}, [...long, user("You must never delete items.")], { maxTokens: 200 });

  expect(counter.text(summary.text)).toBeLessThanOrEqual(200);
  expect(summary.text).toContain("You must never delete items.");
  expect(summary.text).toContain("Request number 299");
  expect(summary.text).not.toContain("Request number 0:");
});

test("makeSummary() has what was noted earlier in the same lists", async () => {
  const { summary: first } = await make();
  const { summary } = await make({}, [user("Always use HTTPS.")], { earlier: first.text });

  expect(summary.text.split("Asked for:")).toHaveLength(2);
  expect(summary.text).toContain("- I prefer PDF.\n- ");
  expect(summary.text).toContain("- Always use HTTPS.");
  expect(summary.text.indexOf("I prefer PDF.")).toBeLessThan(summary.text.indexOf("Always use HTTPS."));
});

test("makeSummary() asks a model without tools, with a limit, and with what was put together before", async () => {
  const { summary, model } = await make({ summarise: "model" }, messages, { earlier: "They met in Rome." }, [
    "In short.",
  ]);

  expect(summary).toMatchObject({ text: "In short.", how: "model", answer: { model: "kitbag.mock/mock", cost: 7 } });
  expect(model.asked).toHaveLength(1);
  // With room for what it thinks before.
  expect(model.asked[0]).toMatchObject({ maxOutputTokens: 300 + 4096 });
  expect(model.asked[0]).not.toHaveProperty("tools");
  const shown = JSON.stringify(model.asked[0]?.prompt);
  for (const part of ["They met in Rome.", "Find the invoice of May", "call: search", "may.pdf"])
    expect(shown).toContain(part);
});

test("makeSummary() asks a model about what was picked, if it is to do both", async () => {
  const { summary, model } = await make({ summarise: "hybrid" }, messages, {}, ["In short."]);

  expect(summary).toMatchObject({ text: "In short.", how: "hybrid" });
  expect(JSON.stringify(model.asked[0]?.prompt)).toContain("Decided and wanted:");
});

test.for<[what: string, script: MockScript]>([
  ["throws", [{ error: new Error("down") }]],
  ["breaks off", [{ text: "In sh", breaks: new Error("cut") }]],
  ["says nothing", [""]],
  ["says only white space", [" \n "]],
  ["thinks alone", [{ reasoning: "Hm" }]],
  ["wants to call a tool", [{ calls: [{ tool: "search" }] }]],
  ["refuses", [{ text: "No", finishReason: "content-filter" }]],
])("makeSummary() picks sentences if the model %s", async ([, script]) => {
  const { summary } = await make({ summarise: "model" }, messages, {}, script);

  expect(summary).toMatchObject({ how: "extractive", error: { code: "model-failed" } });
  expect(summary.text).toContain("I prefer PDF.");
});

test("makeSummary() picks sentences if the model never answers, and does not care that it is to stop", async () => {
  const never = { ...mockModel([]), doStream: async () => new Promise<never>(() => undefined) };

  const { summary } = await make({ summarise: "model", summaryTimeoutMs: 20 }, messages, {}, never);

  expect(summary.how).toBe("extractive");
});

test("makeSummary() picks sentences at once if the run is to stop", async () => {
  const never = { ...mockModel([]), doStream: async () => new Promise<never>(() => undefined) };

  const { summary } = await make({ summarise: "model" }, messages, { signal: AbortSignal.abort() }, never);

  expect(summary.how).toBe("extractive");
});

test("makeSummary() picks sentences if there is no such model", async () => {
  const findModel = async (): Promise<never> => {
    throw new Error("no such model");
  };

  const { summary } = await make({ summarise: "model" }, messages, { findModel });

  expect(summary).toMatchObject({ how: "extractive" });
  expect(summary.error?.message).toContain("no such model");
});

test("makeSummary() cuts an answer that is too long", async () => {
  const { summary } = await make({ summarise: "model" }, messages, {}, ["word ".repeat(10_000)]);

  expect(summary.how).toBe("model");
  expect(counter.text(summary.text)).toBeLessThanOrEqual(300);
});

test("makeSummary() counts what a model used whose answer is of no use", async () => {
  const { summary } = await make({ summarise: "model" }, messages, {}, [{ text: "", usage: { input: 30, output: 0 } }]);

  expect(summary).toMatchObject({ how: "extractive", answer: { usage: { inputTokens: { total: 30 } } } });
});

test("makeSummary() counts what a provider says it used before it failed", async () => {
  const parts: MockScript = [
    { parts: [{ type: "error", error: new Error("broken") }, finishWith(30, 4)], cutAfter: 3 },
  ];

  const { summary } = await make({ summarise: "model" }, messages, {}, parts);

  expect(summary).toMatchObject({
    how: "extractive",
    error: { code: "model-failed" },
    answer: { cost: 7, usage: { inputTokens: { total: 30 }, outputTokens: { total: 4 } } },
  });
  expect(summary.answer).not.toHaveProperty("estimate");
});

test.for<[what: string, script: MockScript, outputTokens: number]>([
  ["loses its connection", [{ drops: new Error("gone") }], 0],
  ["loses it in the middle", [{ text: said, drops: new Error("gone") }], counter.text(said)],
  ["breaks off", [{ text: said, breaks: new Error("gone") }], counter.text(said)],
  ["does not end", [{ reasoning: said, cutAfter: 7 }], counter.text(said)],
  ["throws what nobody knows", [{ error: new Error("down") }], 0],
])("makeSummary() estimates what a model used that %s", async ([, script, outputTokens]) => {
  const { summary, model } = await make({ summarise: "model" }, messages, {}, script);

  const inputTokens = counter.messages(model.asked[0]?.prompt ?? []);
  expect(summary).toMatchObject({ how: "extractive", answer: { estimate: { inputTokens, outputTokens } } });
  expect(summary.answer?.usage.inputTokens.total).toBeUndefined();
});

test("makeSummary() estimates what a model used that did not answer in time", async () => {
  const never = { ...mockModel([]), doStream: async () => new Promise<never>(() => undefined) };

  const { summary } = await make({ summarise: "model", summaryTimeoutMs: 5 }, messages, {}, never);

  expect(summary.answer?.estimate?.inputTokens).toBeGreaterThan(100);
});

test.for<[what: string, script: MockScript, need?: Partial<Parameters<typeof makeSummary>[0]>]>([
  ["refuses for its rate", [{ refused: { status: 429 } }]],
  ["does not let the key in", [{ refused: { status: 401 } }]],
  ["fails before it answers", [{ refused: { status: 500 } }]],
  ["is not asked because the run is to stop", [], { signal: AbortSignal.abort() }],
  ["costs too much", [], { mayAsk: () => false }],
])("makeSummary() counts nothing of a model that %s", async ([, script, need = {}]) => {
  const { summary } = await make({ summarise: "model" }, messages, need, script);

  expect(summary.how).toBe("extractive");
  expect(summary).not.toHaveProperty("answer");
});

test("makeSummary() shows a model no more than it takes", async () => {
  const long = Array.from({ length: 2000 }, (_, index) => user(`Sentence number ${index} of the user.`));

  const { model } = await make({ summarise: "model", windows: { "*": 4000 } }, long, {}, ["In short."]);

  expect(counter.text(JSON.stringify(model.asked[0]?.prompt))).toBeLessThan(3000);
});

function finishWith(input: number, output: number): ModelPart {
  return {
    type: "finish",
    finishReason: { unified: "error", raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

interface Made {
  readonly summary: MadeSummary;
  readonly model: MockModel;
}

async function make(
  options: MemoryOptions = {},
  said: readonly ModelMessage[] = messages,
  need: Partial<Parameters<typeof makeSummary>[0]> = {},
  script: MockScript | MockModel = [],
): Promise<Made> {
  const model = typeof script === "object" && "doStream" in script ? script : mockModel(script);
  const summary = await makeSummary({
    units: toUnits([...said, user("Last")], counter).units.slice(0, -1),
    earlier: "",
    maxTokens: 300,
    counter,
    signal: new AbortController().signal,
    options,
    findModel: () => ({ model, name: "kitbag.mock/mock", priceOf: () => 7 }),
    mayAsk: () => true,
    ...need,
  });
  return { summary, model };
}
