import { expect, test } from "vitest";

import { isKitbagError, type ErrorCode, type KitbagError } from "../../core/errors.ts";
import { choose, type ChooseOptions, type ModelNeeds } from "./choose.ts";
import { loadModelTable } from "./listed-models.ts";

const now = new Date("2026-11-16T00:00:00Z");
const all: ChooseOptions = { available: "all", now };

test.for(["quality", "cost", "speed"] as const)("choose() takes the first by %s, and tells why", async (prefer) => {
  const table = await loadModelTable(now);
  const choice = await choose({ prefer }, all);

  const best = table.find(({ name }) => name === choice.name);
  const isBest = {
    quality: best?.quality === Math.max(...table.map(({ quality }) => quality)),
    speed: best?.speed === Math.max(...table.map(({ speed }) => speed)),
    cost: best?.costAt(10_000) === Math.min(...table.map(({ costAt }) => costAt(10_000) ?? Infinity)),
  };
  expect(isBest[prefer]).toBe(true);
  expect(choice.reasons[0]).toContain(`the first by ${prefer} of ${table.length} that can`);
  expect(choice.passedOver).toHaveLength(table.length - 1);
});

test("choose() takes the cheaper one of two that are as good", async () => {
  const { name, passedOver } = await choose({}, { available: ["anthropic"], now });

  expect(name).toBe("anthropic/claude-opus-5-5");
  expect(passedOver[0]).toMatchObject({
    name: "anthropic/claude-fable-5-1",
    reason: expect.stringMatching(/^it can too; /u),
  });
});

test("choose() passes over what reads too little; what is too new for the data reads what its family does", async () => {
  const { passedOver } = await choose({ context: 500_000 }, all);
  const reasons = Object.fromEntries(passedOver.map(({ name, reason }) => [name, reason]));

  expect(reasons).toMatchObject({
    "anthropic/claude-haiku-4-5": "it reads 200000 tokens",
    "anthropic/claude-haiku-5-5": "it reads 200000 tokens",
    "google/gemini-4-argon": expect.stringContaining("reads 1,048,576 tokens, its price is not known"),
  });
});

test("choose() takes what has no known price last, and never within a budget", async () => {
  const cheap = await choose({ prefer: "cost" }, { available: ["anthropic"], now });
  const { passedOver } = await choose({ maxCost: 1000 }, { available: ["openai"], now });

  expect(cheap.name).toBe("anthropic/claude-haiku-4-5");
  const behind = cheap.passedOver.filter(({ reason }) => reason.includes("its price is not known"));
  expect(cheap.passedOver.findIndex(({ name }) => name === behind[0]?.name)).toBeGreaterThan(10);
  expect(behind.map(({ name }) => name)).toEqual(["anthropic/claude-fable-5-2", "anthropic/claude-haiku-5-5"]);
  expect(passedOver.find(({ name }) => name === "openai/gpt-6.1-sol")?.reason).toBe("its price is not known");
});

test("choose() passes over what calls no tools or holds no answer to a schema", async () => {
  for (const needs of [{ tools: true }, { structuredOutput: true }]) {
    const { passedOver } = await choose(needs, all);

    expect(passedOver.map(({ name, reason }) => [name, reason])).toContainEqual([
      "openai/gpt-5-chat-latest",
      needs.tools === true ? "it calls no tools" : "it holds no answer to a schema",
    ]);
  }
});

test("choose() passes over what costs too much", async () => {
  const { name, passedOver } = await choose({ maxCost: 0.25, prefer: "quality" }, all);

  expect(name).toBe("openai/gpt-6-luna");
  expect(passedOver.find((other) => other.name === "openai/gpt-6-astra")?.reason).toBe(
    "it costs $20 for a million tokens",
  );
});

test.for([
  [{ context: 9_000_000 }, /^none is known to read 9000000 tokens; the most is 1050000$/u],
  [{ maxCost: 0.001 }, /^none costs at most \$0\.001 for a million tokens; the least is \$0\.\d+$/u],
  [{ vision: true, tools: true, context: 1_000_000, maxCost: 0.01 }, /^none costs at most/u],
] as const)("choose(%j) says which need cannot be met", async ([needs, need]) => {
  const { details } = await failure("model-unmatched", needs, all);

  expect(details.need).toMatch(need);
  expect(details.reasons.length).toBeGreaterThan(0);
});

test("choose() looks only at providers whose key is set", async () => {
  const env = { GEMINI_API_KEY: "k", OPENAI_API_KEY: "  " };

  const { name, passedOver } = await choose({}, { env, now });

  expect(name).toMatch(/^google\//u);
  expect(passedOver.find((other) => other.name === "openai/gpt-6-sol")?.reason).toBe("no key: set OPENAI_API_KEY");
});

test("choose() says which keys to set when there is none", async () => {
  const { message } = await failure("model-unmatched", {}, { env: {}, now });

  expect(message).toBe(
    [
      "Cannot choose a model: no provider can be used",
      "openai: no key: set OPENAI_API_KEY",
      "anthropic: no key: set ANTHROPIC_API_KEY",
      "google: no key: set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY",
    ].join("\n"),
  );
});

test("choose() looks only at the models that it is told", async () => {
  const { name } = await choose({}, { available: ["openai/gpt-5.4-nano", "openai/gpt-4.1"], now });

  expect(name).toBe("openai/gpt-5.4-nano");
  await failure("model-unmatched", {}, { available: [], now });
  await failure("model-unmatched", {}, { available: ["acme", "__proto__"], now });
  const old = await failure("model-unmatched", {}, { available: ["openai/gpt-4o"], now });
  expect(old.details.reasons[0]).toBe("openai/gpt-4o: a newer one is better and costs no more");
});

test.for([
  { vision: "yes" },
  { tools: 1 },
  { structuredOutput: "x" },
  { context: 0 },
  { context: Number.NaN },
  { context: "1000" },
  { maxCost: -1 },
  { maxCost: Infinity },
  { prefer: "beauty" },
  { prefer: "constructor" },
  { colour: "red" },
])("choose() refuses the needs %j", async (needs) => {
  await failure("option-invalid", needs as ModelNeeds, all);
});

async function failure<Code extends ErrorCode>(
  code: Code,
  needs: ModelNeeds,
  options: ChooseOptions,
): Promise<KitbagError<Code>> {
  const cause = await choose(needs, options).catch((cause: unknown) => cause);
  if (isKitbagError(cause, code)) return cause;
  throw new Error(`expected ${code}`, { cause });
}
