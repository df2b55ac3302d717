import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { resolveModel } from "../resolve/resolve-model.ts";
import { listProbes, loadModelTable, whyNotOffered } from "./listed-models.ts";

const now = new Date("2026-11-16T00:00:00Z");

/** The types that list the models of a package that answer questions. */
const lists = {
  openai: ["OpenAIChatModelId", "OpenAIResponsesModelId"],
  anthropic: ["AnthropicModelId"],
  google: ["GoogleModelId"],
} as const;

test.for(Object.entries(lists))(
  "loadModelTable() has each model of the installed package of %s, or it is known why not",
  async ([provider, types]) => {
    const table = new Set((await loadModelTable(now)).map(({ name }) => name));

    const named = types.flatMap((type) => listOf(provider, type));
    const missing = named.filter((id) => !table.has(`${provider}/${id}`));

    expect(named.length).toBeGreaterThan(20);
    expect(missing.filter((id) => whyNotOffered(`${provider}/${id}`) === undefined)).toEqual([]);
  },
);

test("loadModelTable() has no model that the installed packages do not list", async () => {
  const named = new Set(
    Object.entries(lists).flatMap(([provider, types]) =>
      types.flatMap((type) => listOf(provider, type).map((id) => `${provider}/${id}`)),
    ),
  );

  const table = await loadModelTable(now);

  expect(table.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  expect(table.filter(({ name }) => whyNotOffered(name) !== undefined)).toEqual([]);
});

test("loadModelTable() knows how much each of its models reads, and what nearly each costs", async () => {
  const table = await loadModelTable(now);
  const costs = table.map(({ costAt }) => costAt(1000)).filter((cost) => cost !== undefined);

  expect(table.filter(({ context }) => context === undefined)).toEqual([]);
  expect(costs.filter((cost) => !(cost > 0 && cost < 200))).toEqual([]);
  expect(table.filter(({ costAt }) => costAt(1000) === undefined).map(({ name }) => name)).toEqual([
    "openai/gpt-6.1-sol",
    "openai/gpt-6.1-terra",
    "anthropic/claude-fable-5-2",
    "anthropic/claude-haiku-5-5",
    "google/gemini-4-argon",
    "google/gemini-4-carbon",
  ]);
});

test("loadModelTable() lists names that resolveModel() takes", async () => {
  const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GEMINI_API_KEY: "k" };

  for (const { name } of await loadModelTable(now)) {
    expect(await resolveModel(name, { env })).toMatchObject({ modelId: name.slice(name.indexOf("/") + 1) });
  }
});

test("loadModelTable() makes long prompts dearer where they are", async () => {
  const sol = (await loadModelTable(now)).find(({ name }) => name === "openai/gpt-6-sol");

  // Three quarters of the input price and one of the output price, in dollars for a million tokens.
  expect(sol?.costAt(1000)).toBeCloseTo((2 * 3 + 10) / 4);
  expect(sol?.costAt(500_000)).toBeCloseTo((4 * 3 + 15) / 4);
});

test("listProbes() begins with a small model, the newest of them", () => {
  expect(["openai", "anthropic", "google", "acme"].map((provider) => listProbes(provider)[0])).toEqual([
    "openai/gpt-6-luna",
    "anthropic/claude-haiku-5-5",
    "google/gemini-3.5-flash-lite",
    undefined,
  ]);
});

/** The names of a type of a package, as its declarations list them. */
function listOf(provider: string, type: string): string[] {
  const entry = createRequire(import.meta.url).resolve(`@ai-sdk/${provider}`);
  const text = readFileSync(join(dirname(entry), "index.d.ts"), "utf8");
  const list = new RegExp(`type ${type} = ([^;]*);`, "u").exec(text)?.[1] ?? "";
  return [...list.matchAll(/'([^']+)'/gu)].map(([, id]) => String(id));
}
