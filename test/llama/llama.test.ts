/** The real llama.cpp runs a model file with random weights: it says nothing sensible, and only what a grammar lets it say. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { JSONSchema7 } from "json-schema";
import { expect, test, type TestContext, vi } from "vitest";

import { createAgent } from "../../src/agent/create-agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { defineTool } from "../../src/core/define-tool.ts";
import type { JsonSchema } from "../../src/core/schema/json-schema.ts";
import { isKitbagError } from "../../src/core/errors.ts";
import { llamaModel } from "../../src/models/llama/llama-model.ts";
import type { LlamaPackage } from "../../src/models/llama/llama-package.ts";
import type { Model, ModelCall, ModelTool } from "../../src/models/model.ts";
import { withSettings } from "../../src/models/resolve/with-settings.ts";
import { contextWindowOf } from "../../src/models/tokens/context-window.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { writeGguf } from "./write-gguf.ts";

vi.setConfig({ testTimeout: 120_000 });

const library = join(import.meta.dirname, "node_modules/node-llama-cpp/dist/index.js");
const llama = { gpu: false, threads: 1, contextSize: 2048 } as const;

const add: ModelTool = {
  type: "function",
  name: "add",
  description: "Adds two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { enum: [1, 2, 3] }, exact: { type: "boolean" }, unit: { enum: ["m", "km"] } },
    required: ["a", "exact"],
  },
};
const now: ModelTool = { type: "function", name: "now", inputSchema: { type: "object", properties: {} } };
const hello: ModelCall = {
  prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  maxOutputTokens: 20,
};

test("a model file answers with text, and says how many tokens it read", async (context) => {
  const model = await open(context);

  const first = await model.doGenerate(hello);
  const second = await model.doGenerate(hello);

  expect(first.content).toMatchObject([{ type: "text", text: expect.stringMatching(/./su) }]);
  expect(first).toMatchObject({ finishReason: { unified: "length" }, usage: { outputTokens: { total: 20 } } });
  expect(first.usage.inputTokens.total).toBeGreaterThan(10);
  // The conversation is still in memory.
  expect(second.usage.inputTokens.cacheRead).toBeGreaterThan(0);
  expect(contextWindowOf(model)).toBe(2048);
});

test("a model file writes nothing but a call that fits, if it must call a tool", async (context) => {
  const model = await open(context);

  for (const toolChoice of [{ type: "required" }, { type: "tool", toolName: "add" }] as const) {
    const answer = await model.doGenerate({ ...hello, maxOutputTokens: 300, tools: [add, now], toolChoice });

    const [call] = answer.content;
    expect(answer.finishReason.unified).toBe("tool-calls");
    if (call?.type !== "tool-call") throw new Error("it called nothing");
    expect(["add", "now"]).toContain(call.toolName);
    if (toolChoice.type === "tool") expect(call.toolName).toBe("add");
    const input = JSON.parse(call.input) as Record<string, unknown>;
    if (call.toolName === "add") {
      expect([1, 2, 3]).toContain(input["a"]);
      expect(typeof input["exact"]).toBe("boolean");
      expect(["m", "km", undefined]).toContain(input["unit"]);
    }
  }
});

test("a model file writes nothing but an answer that fits the schema", async (context) => {
  const model = await open(context);
  const schema: JSONSchema7 = {
    type: "object",
    properties: { city: { enum: ["Bern", "Rome"] }, large: { type: "boolean" }, note: { enum: ["x"] } },
    required: ["city", "large"],
  };

  const { content } = await model.doGenerate({
    ...hello,
    maxOutputTokens: 300,
    responseFormat: { type: "json", schema },
  });

  const [part] = content;
  const answer = JSON.parse(part?.type === "text" ? part.text : "null") as Record<string, unknown>;
  expect(["Bern", "Rome"]).toContain(answer["city"]);
  expect(typeof answer["large"]).toBe("boolean");
  expect(["x", undefined]).toContain(answer["note"]);
});

test("a model file refuses a prompt that its context does not hold, and leaves nothing of it out", async (context) => {
  const model = await open(context);
  const long: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "word ".repeat(1000) }] }] };

  const cause = await Promise.resolve(model.doGenerate(long)).catch((cause_: unknown) => cause_);

  expect(isKitbagError(cause, "model-context-exceeded") && cause.message).toMatch(
    /it has 5,\d+ tokens, and the context 2,048/u,
  );
});

test("a model file stops when the caller does, and answers the next question", async (context) => {
  const model = await open(context);
  const stop = new AbortController();
  const { stream } = await model.doStream({ ...hello, maxOutputTokens: 1500, abortSignal: stop.signal });
  const seen: string[] = [];

  const read = (async () => {
    for await (const part of stream) {
      seen.push(part.type);
      if (part.type === "text-delta") stop.abort(new Error("enough"));
    }
  })();

  await expect(read).rejects.toThrow("enough");
  expect(seen).not.toContain("finish");
  expect((await model.doGenerate(hello)).content).toHaveLength(1);
});

test("questions to a model file at the same time take turns", async (context) => {
  const model = await open(context);

  const answers = await Promise.all([1, 2, 3].map(() => model.doGenerate(hello)));

  expect(new Set(answers.map(({ content }) => JSON.stringify(content))).size).toBe(1);
});

test("an agent with a model file tells that it is loaded, and runs the call that the grammar forces", async (context) => {
  const model = await open(context);
  const called: unknown[] = [];
  const tool = defineTool({
    name: "add",
    description: "Adds",
    input: add.inputSchema as JsonSchema,
    run: (input) => void called.push(input),
  });
  const events: AgentEvent[] = [];
  const agent = createAgent({
    model,
    workspace: createWorkspace({ tools: [tool] }),
    limits: { maxSteps: 1 },
    settings: { maxOutputTokens: 300 },
    hooks: { beforeModel: (call) => ({ ...call, toolChoice: { type: "required" } }) },
  });

  await agent.run("19 + 23?", { onEvent: (event) => void events.push(event) }).result;

  expect(called).toHaveLength(1);
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["model-loading", "tool-start", "tool-end"]));
});

test("a model file that was cut is refused with its sizes", async (context) => {
  const model = await open(context, writeGguf().subarray(0, 200_000));

  const cause = await Promise.resolve(model.doGenerate(hello)).catch((cause_: unknown) => cause_);

  expect(isKitbagError(cause, "model-unsupported") && cause.message).toMatch(
    /: the file was cut: it has 200,000 bytes, and its header says at least [\d,]+; download it again$/u,
  );
});

test("a model file that llama.cpp cannot load is refused in its words, and can be put right", async (context) => {
  const broken = writeGguf();
  broken.write("xlama", broken.indexOf("llama"));
  const model = await open(context, broken);

  const cause = await Promise.resolve(model.doGenerate(hello)).catch((cause_: unknown) => cause_);

  expect(isKitbagError(cause, "model-unsupported") && cause.message).toMatch(/Cannot use the model "llama\/.*"/u);
});

test("a program that asked a model file ends by itself", (context) => {
  need(context);
  const source = join(import.meta.dirname, "../../src/models/llama/llama-model.ts");
  const question = { ...hello, providerOptions: { llama } };
  const folder = createFolder({
    "m.gguf": writeGguf(),
    "ask.mjs": `
      const { llamaModel } = await import(${JSON.stringify(pathToFileURL(source).href)});
      const model = llamaModel(await import(${JSON.stringify(pathToFileURL(library).href)}), process.argv[2]);
      const answer = await model.doGenerate(${JSON.stringify(question)});
      console.log(answer.finishReason.unified);
    `,
  });
  const words = ["--conditions=@kitbag/source", join(folder, "ask.mjs"), join(folder, "m.gguf")];

  const { stdout, stderr, status } = spawnSync(process.execPath, words, { timeout: 60_000, encoding: "utf8" });

  expect([stdout.trim(), stderr, status]).toEqual(["length", "", 0]);
});

async function open(context: Pick<TestContext, "skip">, file: Uint8Array = writeGguf()): Promise<Model> {
  need(context);
  const path = join(createFolder({ "m.gguf": file }), "m.gguf");
  const loaded = (await import(pathToFileURL(library).href)) as LlamaPackage;
  return withSettings(llamaModel(loaded, path), { providerOptions: { llama } });
}

/** It is 85 MB, and there for some platforms only: .ci/run installs it. */
function need({ skip }: Pick<TestContext, "skip">): void {
  if (process.env["KITBAG_REQUIRE_ALL"] === "1") return;
  skip(!existsSync(library), "node-llama-cpp is not installed in test/llama");
}
