import { createWorkspace, defineTool } from "kitbag";
import { createAgent, type AgentEvent, type ModelSettings, type RunResult } from "kitbag/agent";
import { toImagePart, type Model } from "kitbag/models";
import { expect, test } from "vitest";
import { z } from "zod";

import type { ScriptedAnswer, ScriptedFault, ScriptedReply } from "../support/model-server-answer.ts";
import type { Script } from "../support/model-server.ts";
import { makeImage } from "../support/make-image.ts";
import { providers, resolveProvider } from "./providers.ts";

const calls = [
  { id: "call_1", name: "measure", input: { side: "width" } },
  { id: "call_2", name: "measure", input: { side: "height" } },
];
const answer = "It is 8 × 6 – schön 🖼.";

test.for(providers)(
  "createAgent() runs the same program on $name: a picture, two calls at once, an answer",
  async (provider) => {
    const script: ScriptedAnswer[] = [
      { text: "I measure.", calls, usage: { input: 100, cacheRead: 40, output: 10 } },
      { text: answer, usage: { input: 200, cacheRead: 100, output: 20 } },
    ];
    const { server, model } = await resolveProvider(provider, script);
    const events: AgentEvent[] = [];

    const { result, measured } = await describePicture(model, { type: "gif", events });

    expect(result).toMatchObject({ status: "ok", text: answer, steps: 2 });
    expect(measured.toSorted()).toEqual(["height", "width"]);
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]).toMatchObject({
      calls: calls.map(({ name, input }) => ({ name, input })),
      results: [{ text: expect.stringContaining("8") }, { text: expect.stringContaining("6") }],
    });
    expect(server.requests[0]?.images).toHaveLength(1);
    expect(server.requests[1]?.images).toEqual(server.requests[0]?.images);
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
    expect(shown.join("")).toBe(`I measure.${answer}`);
  },
);

test.for(providers)(
  "createAgent() sends $name the system text and the tools, the same at each step",
  async (provider) => {
    const { server, model } = await resolveProvider(provider, [{ calls }, { text: answer }]);

    await describePicture(model);

    const [first, second] = server.requests;
    expect(first?.system).toContain("You look at pictures.");
    expect(second?.system).toBe(first?.system);
    expect(first?.tools.find(({ name }) => name === "measure")).toMatchObject({
      description: "Measures a side of the picture.",
      schema: { type: "object", required: ["side"], properties: { side: { enum: ["width", "height"] } } },
    });
    expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools));
  },
);

test.for(providers.filter(({ signature }) => signature !== "none"))(
  "createAgent() gives $name the signatures of its thoughts back",
  async (provider) => {
    const script: ScriptedAnswer[] = [
      { reasoning: { text: "Two sides.", signature: "sig+one/==" }, calls },
      { reasoning: { text: "Once more.", signature: "sig+two/==" }, calls: [{ ...calls[0]!, id: "call_3" }] },
      { text: answer },
    ];
    const { server, model } = await resolveProvider(provider, script);

    // OpenAI keeps the thoughts itself, unless it is told not to.
    const settings = { providerOptions: { openai: { store: false } } };
    const { result } = await describePicture(model, { settings });

    expect(result).toMatchObject({ status: "ok", text: answer });
    expect(server.requests.map(({ signatures }) => signatures)).toEqual([
      [],
      ["sig+one/=="],
      ["sig+one/==", "sig+two/=="],
    ]);
  },
);

test("createAgent() tells openai-responses by their ids which thoughts it keeps", async () => {
  const provider = providers.find(({ name }) => name === "openai-responses")!;
  const script = [{ reasoning: { text: "Two sides.", signature: "sig" }, calls }, { text: answer }];
  const { server, model } = await resolveProvider(provider, script);

  const { result } = await describePicture(model);

  // The server refuses ids that it never gave, and calls without the thoughts that led to them.
  expect(result).toMatchObject({ status: "ok", text: answer });
  expect(server.requests[1]?.body["input"]).toContainEqual({ type: "item_reference", id: "rs_2" });
});

test.for(providers.filter(({ name }) => name !== "ollama"))(
  "createAgent() counts what $name used and what came from its cache",
  async (provider) => {
    const script: ScriptedAnswer[] = [
      { calls, usage: { input: 100, cacheRead: 40, output: 10 } },
      { text: answer, usage: { input: 200, cacheRead: 100, output: 20 } },
    ];
    const { model } = await resolveProvider(provider, script);

    const { result } = await describePicture(model);

    expect(JSON.stringify(result.usage)).toMatch(/300/u);
    expect(JSON.stringify(result.usage)).toMatch(/140/u);
    expect(JSON.stringify(result.usage)).toMatch(/30/u);
  },
);

const failures = [
  { status: 400, code: "model-refused" },
  { status: 401, code: "model-denied" },
  { status: 429, code: "model-overloaded" },
  { status: 500, code: "model-unavailable" },
  { status: 529, code: "model-overloaded" },
] as const;

test.for(providers.flatMap((provider) => failures.map((failure) => ({ ...provider, ...failure }))))(
  "createAgent() ends a run with $code when $name answers with $status, after what was done",
  async ({ status, code, ...provider }) => {
    const { model } = await resolveProvider(provider, withLast([{ calls }], { status, message: "No" }));

    const { result, measured } = await describePicture(model);

    expect(result).toMatchObject({ status: "failed", error: { code }, steps: expect.any(Number) });
    expect(measured).toHaveLength(2);
  },
);

const faults: readonly ScriptedFault[] = [{ kind: "cut" }, { kind: "ended" }, { kind: "failed" }];

test.for(providers.flatMap((provider) => faults.map((fault) => ({ ...provider, fault }))))(
  "createAgent() runs nothing of half an answer of $name ($fault.kind)",
  async ({ fault, ...provider }) => {
    const text = "I measure both sides of it, one after the other, and then I tell you what they are.";
    const { model } = await resolveProvider(provider, () => ({ text, calls, fault }));

    const { result, measured } = await describePicture(model);

    expect(result.status).toBe("failed");
    expect(result.error?.code).toMatch(/^model-/u);
    expect(measured).toEqual([]);
  },
);

test.for(providers.flatMap((provider) => (["cut", "ended"] as const).map((kind) => ({ ...provider, kind }))))(
  "createAgent() makes all calls of an answer of $name or none, wherever it was broken off ($kind)",
  async ({ kind, ...provider }) => {
    const made: number[] = [];

    for (let share = 0; share < 1; share += 0.06) {
      const { model } = await resolveProvider(
        provider,
        withLast([{ calls, fault: { kind, share } }], { text: answer }),
      );
      const { measured } = await describePicture(model);
      made.push(measured.length);
    }

    expect([...new Set(made)].filter((count) => count !== 0 && count !== 2)).toEqual([]);
    expect(made[0]).toBe(0);
  },
);

test.for(providers)("createAgent() has an answer of $name continued that the output limit cut", async (provider) => {
  const reasoning = { text: "Two sides.", signature: "sig+one/==" };
  const script: ScriptedAnswer[] = [
    { reasoning, text: "It is 8 ", isCutShort: true },
    { text: "by 6 ", isCutShort: true },
    { text: "pixels." },
  ];
  const { server, model } = await resolveProvider(provider, script);
  const events: AgentEvent[] = [];

  const { result } = await describePicture(model, { events });

  const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");
  expect(result).toMatchObject({ status: "ok", text: "It is 8 by 6 pixels.", finishReason: "stop" });
  expect([shown, server.refused]).toEqual(["It is 8 by 6 pixels.", []]);
});

test.for(providers)("createAgent() has $name answer after it thought up to the output limit", async (provider) => {
  const reasoning = { text: "Two sides.", signature: "sig+one/==" };
  const { server, model } = await resolveProvider(provider, [{ reasoning, isCutShort: true }, { text: answer }]);

  const { result } = await describePicture(model);

  expect(result).toMatchObject({ status: "ok", text: answer });
  expect(server.refused).toEqual([]);
});

test.for(providers.filter(({ name }) => name !== "google" && name !== "ollama"))(
  "createAgent() tells $name that the output limit cut its call",
  async (provider) => {
    const cut = { id: "call_2", name: "measure", input: {}, inputText: '{"side": "hei' };
    const script: ScriptedAnswer[] = [{ calls: [calls[0]!, cut], isCutShort: true }, { text: answer }];
    const { server, model } = await resolveProvider(provider, script);

    const { result, measured } = await describePicture(model);

    expect({ status: result.status, measured, refused: server.refused }).toEqual({
      status: "ok",
      measured: ["width"],
      refused: [],
    });
    expect(server.requests[1]?.results[1]?.text).toContain("the output limit cut its input off");
  },
);

test.for(providers.filter(({ name }) => name !== "ollama"))(
  "createAgent() is refused by $name when the answer is filtered",
  async (provider) => {
    const { model } = await resolveProvider(provider, [{ text: "I can", isFiltered: true }]);

    const { result } = await describePicture(model);

    expect(result).toMatchObject({ status: "refused", text: "I can", finishReason: "content-filter" });
  },
);

test.for(providers)("createAgent() goes on after $name was overloaded for a moment", async (provider) => {
  const busy: ScriptedReply = { status: 529, message: "Overloaded", headers: { "retry-after-ms": "1" } };
  const { server, model } = await resolveProvider(provider, [busy, { calls }, busy, { text: answer }]);

  const { result, measured } = await describePicture(model, { maxRetries: 3 });

  expect(result).toMatchObject({ status: "ok", text: answer });
  expect(measured).toHaveLength(2);
  expect(server.requests).toHaveLength(4);
});

interface ProgramOptions {
  readonly type?: "gif" | "png";
  readonly events?: AgentEvent[];
  readonly maxRetries?: number;
  readonly settings?: ModelSettings;
}

/** The program. It does not know which provider there is. */
async function describePicture(
  model: Model,
  { type = "png", events = [], maxRetries = 0, settings = {} }: ProgramOptions = {},
): Promise<{ result: RunResult; measured: string[] }> {
  const measured: string[] = [];
  const measure = defineTool({
    name: "measure",
    description: "Measures a side of the picture.",
    input: z.object({ side: z.enum(["width", "height"]) }),
    annotations: { readOnly: true },
    run({ side }) {
      measured.push(side);
      return side === "width" ? "8 pixels" : "6 pixels";
    },
  });
  const agent = createAgent({
    model,
    workspace: createWorkspace({ tools: [measure] }),
    instructions: "You look at pictures.",
    settings,
    retries: { maxRetries, firstDelayMs: 1 },
  });
  const picture = await toImagePart(await makeImage(type, { width: 8, height: 6 }));
  const content = [{ type: "text" as const, text: "How large is this?" }, picture];
  const result = await agent.run([{ role: "user", content }], { onEvent: (event) => events.push(event) }).result;
  return { result, measured };
}

/** These replies, and then the last one for ever. */
function withLast(replies: readonly ScriptedReply[], last: ScriptedReply): Script {
  const rest = [...replies];
  return () => rest.shift() ?? last;
}
