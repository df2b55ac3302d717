import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Embedder } from "../../core/embedder.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Store } from "../../core/store.ts";
import type { Tool, ToolCache } from "../../core/tool.ts";
import { toEmbedder } from "../../models/embed/to-embedder.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";

const fixtures = join(import.meta.dirname, "../../../test/fixtures/similar");

test("a question in other words gets the output of before, visibly, and no other question does", async () => {
  const { workspace, asked, events } = createWorld();
  await workspace.call("ask", { question: "What is the capital of France?" });

  const similar = await workspace.call("ask", { question: "tell me what the capital of France is" });
  const same = await workspace.call("ask", { question: "What is the capital of France?" });
  const other = await workspace.call("ask", { question: "What is the capital of Spain?" });

  expect([similar, same, other]).toEqual([
    { status: "ok", output: "Answer 1", recalled: "similar" },
    { status: "ok", output: "Answer 1", recalled: "cache" },
    { status: "ok", output: "Answer 2" },
  ]);
  expect(asked).toHaveLength(2);
  expect(events).toEqual(["similar", "cache"]);
});

test("no near-miss of the set gets the output of the other, however low the threshold is", async () => {
  const { workspace, asked } = createWorld({ similar: { parameter: "question", threshold: 0 } });
  const pairs = readPairs("near-misses.txt");

  const hits: unknown[] = [];
  for (const [one, other] of pairs) {
    await workspace.call("ask", { question: one });
    const outcome = await workspace.call("ask", { question: other, topic: "same" });
    const again = await workspace.call("ask", { question: other });
    if (outcome.status !== "ok" || outcome.recalled === "similar" || again.status !== "ok") hits.push([one, other]);
    else if (again.recalled === "similar") hits.push([one, other]);
  }

  expect(hits).toEqual([]);
  expect(asked.length).toBeGreaterThanOrEqual(pairs.length * 2);
});

test("23 of 50 paraphrases are hits with the local embedder and the usual threshold", async () => {
  const { workspace } = createWorld({ embedder: toEmbedder("local") });
  let hits = 0;
  for (const [index, [one, other]] of readPairs("paraphrases.txt").entries()) {
    const topic = String(index);
    await workspace.call("ask", { question: one, topic });
    const outcome = await workspace.call("ask", { question: other, topic });
    if (outcome.status === "ok" && outcome.recalled === "similar") hits += 1;
  }

  expect(hits).toBe(23);
});

test("an embedder that finds two texts far apart, or fails, has the tool run", async () => {
  const far: Embedder = {
    name: "far",
    embed: async (texts) => texts.map((_, index) => (index === 0 ? [1, 0] : [0, 1])),
  };
  const broken: Embedder = { name: "broken", embed: () => Promise.reject(new Error("no network")) };

  for (const embedder of [far, broken, { name: "few", embed: async () => [[1]] }]) {
    const { workspace, asked } = createWorld({ embedder });
    await workspace.call("ask", { question: "Who is on call?" });
    expect(await workspace.call("ask", { question: "who's on call" })).toMatchObject({ output: "Answer 2" });
    expect(asked).toHaveLength(2);
  }
});

test("an output is for one user, one version of the tool and equal other parameters", async () => {
  const store = memoryStore();
  const { workspace } = createWorld({ store });
  const ask = async (from: Workspace, question: string, user: string, topic = "a"): Promise<unknown> => {
    const outcome = await from.call("ask", { question, topic }, { user });
    return outcome.status === "ok" ? outcome.recalled : outcome.error.code;
  };
  await ask(workspace, "Who is on call?", "ada");
  const changed = createWorld({ store, version: "2.0.0" }).workspace;
  const reworded = createWorld({ store, description: "Answers otherwise" }).workspace;
  const equal = createWorld({ store }).workspace;

  expect(await ask(workspace, "who's on call", "bob")).toBeUndefined();
  expect(await ask(workspace, "who's on call", "ada", "b")).toBeUndefined();
  expect(await ask(changed, "who's on call", "ada")).toBeUndefined();
  expect(await ask(reworded, "who's on call", "ada")).toBeUndefined();
  expect(await ask(equal, "who's on call", "ada")).toBe("similar");
});

test("two calls at the same time in other words both run: the embedder has not compared them", async () => {
  const { workspace, asked } = createWorld();

  await Promise.all([
    workspace.call("ask", { question: "Who is on call?" }),
    workspace.call("ask", { question: "who's on call" }),
  ]);

  expect(asked).toHaveLength(2);
});

test("a text that is long, empty or no text is compared as it is", async () => {
  const { workspace } = createWorld();
  for (const question of ["x ".repeat(3000), "..."]) {
    await workspace.call("ask", { question });
    expect(await workspace.call("ask", { question: `${question} ` })).not.toHaveProperty("recalled");
    expect(await workspace.call("ask", { question })).toHaveProperty("recalled", "cache");
  }
});

test("a workspace without an embedder refuses a tool whose cache compares texts, wherever it comes from", async () => {
  const tool = createAsk([], {});
  const skill = defineSkill({ name: "help", description: "Helps", tools: [tool] });

  expect(() => createWorkspace({ tools: [tool] })).toThrow(
    'Cannot use the cache of the tool "ask": it needs an embedder; pass "embedder" to createWorkspace, as in toEmbedder("local"), or take "similar" out of the cache',
  );
  expect(() => createWorkspace({ skills: [skill] })).toThrow("embedder");
  expect(() => createWorkspace().add(tool)).toThrow("embedder");
  expect(() => createWorkspace({ embedder: { name: "x" } as never })).toThrow("toEmbedder");
});

test.for([{ parameter: 7 }, { parameter: "question", threshold: 2 }, { parameter: "question", more: 1 }, "question"])(
  "a tool with the cache %j is refused",
  (similar) => {
    expect(() => createAsk([], { similar: similar as never })).toThrow("cache.similar");
  },
);

interface WorldOptions extends Partial<ToolCache> {
  readonly store?: Store;
  readonly embedder?: Embedder;
  readonly version?: string;
  readonly description?: string;
}

/** Finds each text as near to each other as can be: what keeps questions apart is what they say. */
const blind: Embedder = { name: "blind", embed: async (texts) => texts.map(() => [1, 0]) };

function createWorld({ store = memoryStore(), embedder = blind, ...more }: WorldOptions = {}) {
  const asked: unknown[] = [];
  const events: unknown[] = [];
  const workspace = createWorkspace({ tools: [createAsk(asked, more)], store, embedder });
  workspace.onEvent((event: CallEvent) => event.type === "call-recalled" && events.push(event.from));
  return { workspace, asked, events };
}

function createAsk(asked: unknown[], { version = "1.0.0", description = "Answers", ...cache }: WorldOptions): Tool {
  return defineTool({
    name: "ask",
    description,
    version,
    input: { type: "object", properties: { question: { type: "string" }, topic: { type: "string" } } },
    cache: { ttlMs: 60_000, similar: { parameter: "question" }, ...cache },
    run: ({ question }) => `Answer ${asked.push(question)}`,
  });
}

function readPairs(name: string): readonly (readonly [one: string, other: string])[] {
  const lines = readFileSync(join(fixtures, name), "utf8").split("\n");
  const pairs = lines.filter((line) => line !== "" && !line.startsWith("# ")).map((line) => line.split(" | "));
  return pairs.map(([one = "", other = ""]) => [one, other]);
}
