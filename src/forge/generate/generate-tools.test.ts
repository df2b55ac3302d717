import { afterAll, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { countWords, openTestForge, openTestRuntimes, type TestForge } from "../../../test/support/open-test-forge.ts";
import type { JsonObject } from "../../core/json.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Model, ModelCall } from "../../models/model.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createWorkflowTools } from "../workflow/create-workflow-tools.ts";
import { findClosestTemplate } from "./generate-tools.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test.for([
  [
    "fetch issues as JSON from the REST API https://api.tracker.example/v2/issues. with MY_API_TOKEN",
    "api-client",
    {
      host: "api.tracker.example",
      path: "/v2/issues",
      keyEnv: "MY_API_TOKEN",
    },
  ],
  ["a CSV report grouped by region with the sum of revenue", "csv-report", { groupBy: "region", sumOf: "revenue" }],
  ["extract links and headings of web pages on docs.example.com", "web-scraper", { hosts: ["docs.example.com"] }],
  ["run SQL queries on ./data/shop.sqlite", "sql-query", { database: "./data/shop.sqlite" }],
  ["convert yaml files to json", "file-converter", { from: "yaml", to: "json" }],
  ["judge the answer of an LLM by a rubric", "llm-judge", {}],
  ["chain the tools second and first.", "pipeline", { tools: ["second", "first"] }],
] as const)("findClosestTemplate() takes from %j the template %s", ([description, template, parameters]) => {
  const closest = findClosestTemplate(description, ["first", "second", "third"]);

  expect(closest).toEqual({ template, parameters });
});

test("generate_tool fills in the closest template without a model, says so, and the tool can be called", async (context) => {
  needProgram(context, "python3");
  const { workspace } = await openWithTools();

  const made = await workspace.call("generate_tool", { description: "A CSV report grouped by region, sum of revenue" });
  const called = await workspace.call("csv-report-grouped-by", { csv: "region,revenue\nnorth,2\nnorth,3" });
  const nothing = await workspace.call("generate_tool", { description: "qqqq zzzz" });

  expect(made).toMatchObject({
    status: "ok",
    output: { how: "template", template: "csv-report", status: "live", name: "csv-report-grouped-by" },
  });
  expect(called).toMatchObject({ status: "ok", output: { groups: [{ group: "north", sum: 5 }] } });
  expect(nothing.status === "failed" && nothing.error.message).toContain("create_tool");
});

test.for([
  ["$(id); '\"`\n", "x"],
  ["csv '; DROP TABLE --\u0000", undefined],
  ['csv report grouped by "a\'b\\"', "../../evil"],
] as const)("generate_tool makes nothing unsafe of %j", async ([description, name]) => {
  const { workspace, forge } = await openWithTools();

  const outcome = await workspace.call("generate_tool", { description, ...(name !== undefined && { name }) });

  // Either it is refused in words, or what was made passed the gate under a plain name.
  if (outcome.status === "failed") expect(outcome.error.code).toMatch(/^(?:input-invalid|draft-refused)$/u);
  for (const tool of forge.listTools())
    expect(tool).toMatchObject({ status: "live", name: expect.stringMatching(/^[a-z0-9-]+$/u) as string });
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
