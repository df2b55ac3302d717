import { afterAll, expect, test } from "vitest";

import { countWords, openTestForge, openTestRuntimes, type TestForge } from "../../../test/support/open-test-forge.ts";
import type { JsonObject } from "../../core/json.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Model, ModelCall } from "../../models/model.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createWorkflowTools } from "../workflow/create-workflow-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test.for([
  ["compute the BMI", "create_tool"],
  ["A CSV report grouped by region, sum of revenue", "csv-report"],
  ["$(id); '\"`\n", "create_tool"],
] as const)("generate_tool makes nothing of %j without a model, and names %s", async ([description, named]) => {
  const { workspace, forge } = await openWithTools();

  const outcome = await workspace.call("generate_tool", { description });

  expect(outcome.status === "failed" && outcome.error.message).toContain(named);
  expect(forge.listTools()).toEqual([]);
});

test("generate_tool has a model write the tool, and repair it by what the gate says", async () => {
  const wrong = { ...countWords, code: "console.log('nothing');" };
  const asked: ModelCall[] = [];
  const model = answering(
    ["I cannot.", `Here it is:\n\`\`\`json\n${JSON.stringify(wrong)}\n\`\`\``, JSON.stringify(countWords)],
    asked,
  );
  const { workspace } = await openWithTools(model);

  const made = await workspace.call("generate_tool", { description: "Counts words", name: "my-counter" });
  const called = await workspace.call("my-counter", { text: "a b" });

  expect(made).toMatchObject({ status: "ok", output: { how: "model", status: "live", name: "my-counter" } });
  expect(called).toMatchObject({ status: "ok", output: { words: 2 } });
  expect(asked).toHaveLength(3);
  expect(JSON.stringify(asked[2]?.prompt.at(-1))).toContain("1 of 1 examples did not pass");
});

test("generate_tool gives up after three attempts, and nothing is live", async () => {
  const asked: ModelCall[] = [];
  const { workspace } = await openWithTools(answering(["no", "{}", '{"name": "x"}'], asked));

  const outcome = await workspace.call("generate_tool", { description: "Counts words" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "draft-refused" } });
  expect(asked).toHaveLength(3);
});

test("suggest_improvements tells what recorded calls show", async () => {
  const { workspace } = await openWithTools();
  workspace.add(
    defineTool({
      name: "divide",
      description: "Divides",
      input: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" }, digits: { type: "integer" } },
        required: ["a", "b"],
      },
      run: (given) => {
        const { a, b } = given as { a: number; b: number };
        if (b === 0) throw new Error("b is 0");
        return "1".repeat(a > 100 ? 3_000_000 : 1);
      },
    }),
  );
  for (const input of [{ a: 1, b: 0 }, { a: "1", b: 2 }, { a: 1, b: 2 }, { a: 200, b: 2 }, { a: 1 }]) {
    await workspace.call("divide", input);
  }

  const outcome = await workspace.call("suggest_improvements", { name: "divide" });

  const { calls, suggestions } = (outcome.status === "ok" ? outcome.output : {}) as JsonObject;
  const seen = (suggestions as { about: string; seen: string }[]).map((one) => `${one.about}: ${one.seen}`);
  expect(calls).toBe(5);
  expect(seen).toEqual([
    expect.stringMatching(/^failures: 1 of 5 calls failed with input-invalid/u),
    expect.stringMatching(/^failures: 1 of 5 calls failed with tool-failed.*b is 0/u),
    "output: 1 of 5 outputs were too large and were cut",
    "input: a was changed in 1 of 5 calls so that it fits",
    "input: none of 5 calls gave digits",
    "description: the description has 7 characters",
    "input: a, b, digits have no description",
    "output: there is no output schema",
    "examples: there is no example",
    "annotations: there are no annotations",
  ]);
});

test("suggest_improvements tells a caller who may not call everything only of their own calls", async () => {
  const { workspace } = await openWithTools();
  const fails = defineTool({
    name: "fails",
    description: "Fails with what it is given",
    input: { type: "object", properties: { text: { type: "string" } } },
    run: ({ text }) => {
      throw new Error(String(text));
    },
  });
  workspace.add(fails);
  await workspace.call("fails", { text: "of Ada" }, { user: "Ada" });
  await workspace.call("fails", { text: "of Bob" }, { user: "Bob" });
  const ask = async (options: CallOptions): Promise<string> =>
    JSON.stringify(await workspace.call("suggest_improvements", { name: "fails" }, options));
  const refuse = (): undefined => undefined;

  expect(await ask({ user: "Ada", refuse })).toContain("of Ada");
  expect(await ask({ user: "Ada", refuse })).not.toContain("of Bob");
  expect(await ask({ refuse })).not.toContain("the latest");
  expect(await ask({})).toContain("of Bob");
});

test("suggest_improvements says which tools there are when there is none of the name", async () => {
  const { workspace } = await openWithTools();

  const outcome = await workspace.call("suggest_improvements", { name: "generate-tool" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-not-found" } });
});

async function openWithTools(model?: Model): Promise<TestForge & { readonly workspace: Workspace }> {
  const place = await openTestForge(runtimes);
  const options = { store: place.store, ...(model !== undefined && { model }) };
  for (const tool of createWorkflowTools(place.forge, options)) place.workspace.add(tool);
  return place;
}

/** A model that says these texts, one after the other. */
function answering(texts: readonly string[], asked: ModelCall[]): Model {
  const usage = { inputTokens: {}, outputTokens: {} } as never;
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    async doGenerate(call) {
      asked.push(call);
      const text = texts[asked.length - 1] ?? "";
      return { content: [{ type: "text", text }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };
    },
    doStream: () => Promise.reject(new Error("It is not asked for a stream")),
  };
}
