import { afterAll, expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import {
  countWords,
  openTestForge,
  openTestRuntimes,
  sayTool,
  type TestForge,
} from "../../../test/support/open-test-forge.ts";
import { createForgeTools } from "./create-forge-tools.ts";

// What models get wrong, and what they are told: what was wrong, where, and what to do.
const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const { examples: _, ...withoutExamples } = countWords;
const { output: __, ...printsText } = countWords;

test.for<[what: string, draft: object, told: string]>([
  ["a language in other letters", { ...countWords, language: "Python" }, 'found "Python" (did you mean "python"?)'],
  ["a compiled language by its name", { ...countWords, language: "rust" }, '(did you mean "wasm-rust"?)'],
  ["no examples", withoutExamples, "examples: expected a list of objects, found nothing"],
  ["an empty list of examples", { ...countWords, examples: [] }, 'give at least one {"input": {…}, "output": …}'],
  [
    "an example that is only an input",
    { ...countWords, examples: [{ text: "a" }] },
    "examples[0].input: expected an object, found nothing; examples[0].text: expected only description, input, output",
  ],
  [
    "an example that does not fit",
    { ...countWords, examples: [{ input: { txt: "a" } }] },
    'examples[0].input.txt: expected only text, found an unknown parameter (did you mean "text"?)',
  ],
  ["another name for the schema", { ...countWords, inputSchema: {} }, "inputSchema: expected only name, title"],
  [
    "a schema that is a text",
    { ...countWords, input: "text: string" },
    'input: expected an object, found "text: string"',
  ],
  [
    "a list of properties for a schema",
    { ...countWords, input: { text: "string", most: { type: "integer" } } },
    'input: it is no JSON Schema, because it has no "properties"; write {"type":"object","properties":{"text":{"type":"string"},"most":{"type":"integer"}},"required":["text","most"]}',
  ],
  [
    "the same for the output",
    { ...countWords, output: { words: "int" } },
    'output: it is no JSON Schema, because it has no "properties"; write {"type":"object","properties":{"words":{"type":"integer"}}',
  ],
  [
    "an output in JSON without a schema",
    printsText,
    'examples[0].output is JSON, but without an "output" schema the output is text',
  ],
  ["a name with a space", { ...countWords, name: "Count the words!" }, '; such as "Count-the-words"'],
  ["a name with an accent", { ...countWords, name: "zähler" }, '; such as "zahler"'],
  ["a name that is a path", { ...countWords, name: "../../x" }, '; such as "x"'],
  ["a name that says nothing", { ...countWords, name: "!" }, "starting with a letter or digit, at most 64"],
  [
    "the name of one of these tools",
    { ...countWords, name: "create_tool" },
    "Kitbag itself has a tool or skill of this name; take another one",
  ],
  [
    "a permission that is true",
    { ...countWords, permissions: { network: true } },
    'permissions.network[0]: "true": name each one, such as "api.example.com"',
  ],
  [
    "an address of the web for a host",
    { ...countWords, permissions: { network: ["https://example.com/x"] } },
    "write the host alone, without scheme and path",
  ],
  [
    "a path that does not say from where",
    { ...countWords, permissions: { read: ["data"] } },
    'permissions.read[0]: "data": a path starts with ./, ~/ or /',
  ],
  [
    "a variable with a value",
    { ...countWords, permissions: { env: ["KEY=1"] } },
    'permissions.env[0]: "KEY=1": name one variable, such as "API_KEY"',
  ],
  [
    "a program with arguments",
    { ...countWords, permissions: { run: ["git status"] } },
    'permissions.run[0]: "git status": name the program alone, such as "git"',
  ],
  ["a permission that there is not", { ...countWords, permissions: { net: [] } }, '(did you mean "network"?)'],
])("create_tool answers %s", async ([, draft, told]) => {
  const { workspace, forge } = await openWithTools();

  const outcome = await workspace.call("create_tool", draft);

  expect(messageOf(outcome)).toContain(told);
  expect([forge.listTools(), forge.listWaiting()]).toEqual([[], []]);
});

test.for<[what: string, tool: string, input: object, told: string]>([
  ["a name that is nearly right", "update_tool", { name: "sya", changes: { title: "S" } }, 'did you mean "say"?'],
  ["a name that nobody knows", "test_tool", { name: "xyzzy" }, "none of the 2 known tools has a similar name"],
  [
    "a tool from elsewhere",
    "update_tool",
    { name: "clock", changes: { title: "C" } },
    'Cannot work on "clock": it was not made in this workspace',
  ],
  ["a tool that was deleted", "delete_tool", { name: "gone" }, deletedText("gone")],
  ["a tool that was deleted", "update_tool", { name: "gone", changes: { title: "G" } }, deletedText("gone")],
  ["a tool that was deleted", "test_tool", { name: "gone" }, deletedText("gone")],
  ["a name that is taken", "create_tool", sayTool("say", "B"), "(1.0.0, live); use update_tool, or take another name"],
  [
    "a name that is taken but for its case",
    "create_tool",
    sayTool("Say", "B"),
    'there is "say", which is the same name',
  ],
  [
    "a version that is not there",
    "rollback_tool",
    { name: "say", version: "9.9.9" },
    'Cannot find the version "9.9.9" of "say": the latest are 1.0.0',
  ],
  [
    "a part beside the changes",
    "update_tool",
    { name: "say", code: "echo x" },
    "changes: expected an object, found nothing; code: expected only name, changes, expectedVersion",
  ],
  [
    "steps for code",
    "update_tool",
    { name: "say", changes: { steps: [{ id: "a", tool: "say" }] } },
    "changes.steps: it is a tool made of code; for steps make another tool with create_pipeline",
  ],
  [
    "code for steps",
    "update_tool",
    { name: "relay", changes: { code: "echo x" } },
    'changes.code: it is a pipeline, which has "steps" and "result"; for code make another tool with create_tool',
  ],
  [
    "a version that is no longer live",
    "update_tool",
    { name: "say", changes: { title: "S" }, expectedVersion: "0.9.0" },
    "its version is 1.0.0 now, not 0.9.0 (replaced); read it again, then repeat the change",
  ],
])("the forge's tools answer %s for %s", async ([, tool, input, told]) => {
  const { workspace, forge } = await openWithTools();
  workspace.add(defineTool({ name: "clock", description: "Tells the time", run: () => "noon" }));
  await forge.createTool(sayTool("say", "A"));
  const steps = [{ id: "a", tool: "say" }];
  await forge.createPipeline({ name: "relay", description: "Says it again", steps, examples: [{ input: {} }] });
  await forge.createTool(sayTool("gone", "A"));
  await forge.deleteTool("gone");

  const outcome = await workspace.call(tool, input);

  expect(messageOf(outcome)).toContain(told);
});

test.for<[what: string, code: string, expected: unknown]>([
  ["a line break at the end", 'console.log("a b")', "a b"],
  ["keys in another order", `console.log('{"b": 1, "a": {"d": 1.0, "c": 2}}')`, { a: { c: 2, d: 1 }, b: 1 }],
])("create_tool takes %s for the same output", async ([, code, expected]) => {
  const { workspace } = await openWithTools();
  const output = typeof expected === "string" ? {} : { output: { type: "object" } };
  const draft = { ...printsText, ...output, code, examples: [{ input: { text: "" }, output: expected }] };

  const outcome = await workspace.call("create_tool", draft);

  expect(outcome).toMatchObject({ status: "ok", output: { status: "live", examplesPassed: 1 } });
});

test("create_tool tells the slower of two who make the same tool at once that the name is taken", async () => {
  const { workspace } = await openWithTools();
  const draft = sayTool("say", "A");

  const outcomes = await Promise.all([workspace.call("create_tool", draft), workspace.call("create_tool", draft)]);

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["failed", "ok"]);
  expect(outcomes.map(messageOf).join("")).toContain("there is already a tool of this name (1.0.0, live)");
});

test("update_tool tells the slower of two editors what the other changed", async () => {
  const { workspace } = await openWithTools();
  await workspace.call("create_tool", sayTool("say", "A"));
  const edit = (title: string): Promise<ToolOutcome> =>
    workspace.call("update_tool", { name: "say", changes: { title } });

  const outcomes = await Promise.all([edit("One"), edit("Two")]);

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["failed", "ok"]);
  expect(outcomes.map(messageOf).join("")).toBe(
    'Cannot change "say": its version is 1.0.1 now, not 1.0.0 (changed: title); read it again, then repeat the change',
  );
});

test("create_tool and create_skill say how a person agrees to what waits", async () => {
  const { workspace } = await openWithTools();
  const draft = { ...countWords, permissions: { network: ["api.example.com"] } };
  const skill = { name: "texts", description: "Counts", instructions: "Count.", tools: [draft] };

  const outcomes = [await workspace.call("create_tool", draft), await workspace.call("create_skill", skill)];

  for (const [index, makes] of ["tool", "skill"].entries()) {
    expect(outcomes[index]).toMatchObject({ status: "ok", output: { status: "waiting", makes } });
    const { id, next } = (outcomes[index] as unknown as { output: { id: string; next: string } }).output;
    expect(next).toContain(`kitbag approvals approve ${id}`);
  }
});

function deletedText(name: string): string {
  return `Cannot use "${name}": it was deleted; restore it (delete_tool with "undo": true), or make it again`;
}

async function openWithTools(): Promise<TestForge> {
  const opened = await openTestForge(runtimes);
  for (const tool of createForgeTools(opened.forge)) opened.workspace.add(tool);
  return opened;
}

function messageOf(outcome: ToolOutcome): string {
  return outcome.status === "failed" ? outcome.error.message : "";
}
