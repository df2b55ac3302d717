import { expect, test } from "vitest";

import type { RunOptions } from "../../agent/agent-options.ts";
import { createAgent } from "../../agent/create-agent.ts";
import type { RunResult } from "../../agent/run-result.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { ModelMessage } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import type { RunEntry } from "../../records/runs/run-records.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { mockModel, type MockScript } from "../models/mock-model.ts";
import { renderRun } from "./render-run.ts";

const looping: MockScript = [
  { reasoning: "I add", text: "Let me see.\nOne moment.", calls: [add(1), add(2)] },
  { calls: [add(1)] },
  { calls: [add(1)] },
  { calls: [add(1)] },
  { calls: [add(2), { tool: "missing" }, { tool: "add", input: "{'a': 1" }] },
  "It is 3",
];

test.for<[what: string, run: unknown, found: string]>([
  ["nothing", undefined, "found nothing"],
  ["a result that was not awaited", Promise.resolve({}), "found a promise that was not awaited"],
  ["a run that goes on", { id: "r" }, "found an object"],
])("renderRun() refuses %s", ([, run, found]) => {
  expect(() => renderRun(run as RunResult)).toThrow(`${found}, expected what run.result resolves to, a journal`);
});

test("renderRun() writes a journal: what was said, called and answered, and why the agent spoke", async () => {
  const { entries } = await run(looping);

  expect(renderRun(entries)).toMatchInlineSnapshot(`
    "user: Add
    assistant thinks: I add
    assistant: Let me see.
      | One moment.
      -> add {"a":1,"b":1}
      -> add {"a":2,"b":1}
      <- add 2
      <- add 3
      -> add {"a":1,"b":1}
      <- add 2
      -> add {"a":1,"b":1}
      <- add 2
      -> add {"a":1,"b":1}
      <- add 2
    (loop) user: This leads nowhere: add is called again and again with the same input, and the outcome is the same. Do something else, or say what you know and what is missing.
      -> add {"a":2,"b":1}
      -> missing {}
      -> add {'a': 1
      <- add 3
      <- missing (error-text) Cannot find the tool "missing": none of the 2 known tools has a similar name
      <- add (error-text) Cannot call "add": the input is wrong: expected an object, found "{'a': 1"
    assistant: It is 3
    = ok"
  `);
});

test("renderRun() writes a result as the conversation is at its end", async () => {
  const { result } = await run([{ calls: [add(1)] }, "It is 2"]);

  expect(renderRun(result)).toMatchInlineSnapshot(`
    "user: Add
      -> add {"a":1,"b":1}
      <- add 2
    assistant: It is 2
    = ok"
  `);
});

test("renderRun() writes the same text of the same run, with nothing that changes in it", async () => {
  const [first, second] = [await run(looping), await run(looping)];

  expect(renderRun(second.entries)).toBe(renderRun(first.entries));
  expect(renderRun(second.result)).toBe(renderRun(first.result));
  expect(renderRun(first.entries)).not.toMatch(/call-\d|\d{10}|tokens/u);
});

test.for<[what: string, script: MockScript, options: RunOptions, end: string]>([
  ["an output", ['{"sum": 3}'], { output: { type: "object" } }, '= ok: {"sum":3}'],
  ["a limit", [{ calls: [add(1)] }], { limits: { maxSteps: 1 } }, "= stopped: steps"],
  ["an error", [{ error: new Error("out of order") }], {}, "= failed: model-failed: "],
  ["a pause", [{ calls: [{ tool: "drop" }] }], {}, "= paused"],
])("renderRun() ends with %s, from the result and from the journal", async ([, script, options, end]) => {
  const { entries, result } = await run(script, options);

  expect(renderRun(entries).split("\n").at(-1)).toContain(end);
  expect(renderRun(result).split("\n").at(-1)).toContain(end);
});

test("renderRun() says that a journal has no end", async () => {
  const { entries } = await run(["Hello"]);

  expect(renderRun(entries.slice(0, -1))).toBe("user: Add\nassistant: Hello\n= unfinished");
});

test("renderRun() and shown() say which tools Anthropic's models were told of", async () => {
  const look = defineTool({ name: "look", description: "Looks around", run: () => "grey" });
  const workspace = createWorkspace({ skills: [defineSkill({ name: "eyes", description: "Sees", tools: [look] })] });
  const script = [{ calls: [{ tool: "activate_skill", input: { name: "eyes" } }] }, "Open"];
  const model = mockModel(script, { provider: "anthropic.messages" });
  const agent = createAgent({ model, workspace, exposure: "announce" });

  const result = await agent.run("Open your eyes").result;

  const told = [
    "system: Tools that can be called from now on: eyes__look.",
    '  | - eyes__look: Looks around Input: {"type":"object","properties":{}}',
  ].join("\n");
  expect(renderRun(result)).toContain(`\n${told}\nassistant: Open\n`);
  expect(model.shown().conversation).toContain(told);
  expect(model.shown().system).toBe(model.shown(0).system);
});

test("renderRun() names parts that it does not know, and files", () => {
  const messages = [
    { role: "user", content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } }] },
    { role: "assistant", content: [{ type: "hologram" }] },
    { role: "system", content: "More\ntools" },
    {
      role: "tool",
      content: [
        toResult({ type: "content", value: [{ type: "text", text: "a" }, { type: "media" }] }),
        toResult({ type: "execution-denied", reason: "not today" }),
        toResult({ type: "text", value: "two\nlines" }),
      ],
    },
  ] as unknown as ModelMessage[];

  const text = renderRun({ status: "ok", messages } as unknown as RunResult);

  expect(text.split("\n")).toEqual([
    "user: [image/png]",
    "assistant: [hologram]",
    "system: More",
    "  | tools",
    '  <- a (content) ["a","[media]"]',
    "  <- a (execution-denied) not today",
    "  <- a two",
    "  | lines",
    "= ok",
  ]);
});

function toResult(output: object): object {
  return { type: "tool-result", toolCallId: "1", toolName: "a", output };
}

function add(a: number): { tool: string; input: { a: number; b: number } } {
  return { tool: "add", input: { a, b: 1 } };
}

async function run(
  script: MockScript,
  options: RunOptions = {},
): Promise<{ result: RunResult; entries: readonly RunEntry[] }> {
  const store = memoryStore();
  const tools = [
    defineTool({
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
      run: ({ a, b }) => Number(a) + Number(b),
    }),
    defineTool({ name: "drop", description: "Drops", needsApproval: true, run: () => 1 }),
  ];
  const workspace = createWorkspace({ tools });
  const agent = createAgent({ model: mockModel(script), workspace, store });
  const result = await agent.run("Add", { ...options, id: "a" }).result;
  return { result, entries: await createRuns({ store }).read("a", { limit: 1000 }) };
}
