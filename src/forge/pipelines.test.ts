import { afterAll, expect, test } from "vitest";

import { defineSkill } from "../core/define-skill.ts";
import type { Skill } from "../core/skill.ts";
import { defineTool } from "../core/define-tool.ts";
import { definePipeline } from "../runtimes/pipeline/define-pipeline.ts";
import {
  countWords,
  expectLive,
  expectRefused,
  openTestForge,
  openTestRuntimes,
  outputOf,
  sayTool,
} from "../../test/support/open-test-forge.ts";
import { createForgeTools } from "./tools/create-forge-tools.ts";
import type { PipelineDraft } from "./drafts/tool-draft.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const report: PipelineDraft = {
  name: "report",
  description: "Tells in words how many words there are",
  steps: [{ id: "count", tool: "count-words", args: { text: "$input.text" } }],
  result: { text: "There are ${count.words} words" },
  examples: [{ input: { text: "a b" }, output: { text: "There are 2 words" } }],
};

test("createPipeline() makes a tool out of others, live at once and structured", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const answer = expectLive(await forge.createPipeline(report));

  expect(answer.inputSchema).toMatchObject({ properties: { text: {} } });
  expect(await outputOf(workspace, "report", { text: "a b c" })).toEqual({ text: "There are 3 words" });
  expect(workspace.getTool("report")?.tool.annotations).toMatchObject({ readOnly: true });
});

test("createPipeline() tries a step that names a version with that version, whichever is live", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(sayTool("say", "one"));
  await forge.updateTool("say", sayTool("say", "two"));
  await forge.updateTool("say", sayTool("say", "three"));
  const steps = ["1.0.0", "1.0.1"].map((version, index) => ({ id: `s${index}`, tool: `say@${version}`, args: {} }));
  const last = { id: "last", tool: "say", args: {} };
  const output = ["one", "two", "three"];

  const answer = await forge.createPipeline({
    name: "all",
    description: "Says all",
    steps: [...steps, last],
    result: ["$s0", "$s1", "$last"],
    examples: [{ input: {}, output }],
  });

  expectLive(answer);
  expect(await outputOf(workspace, "all")).toEqual(output);
  expect(await forge.testTool("all")).toMatchObject({ passed: true });
});

test("createPipeline() tries a step that names a version of a skill's tool with that version", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  const skill = (version: string): Skill =>
    defineSkill({
      name: "talk",
      description: "Talks",
      version,
      tools: [defineTool({ name: "say", description: "Says", version, run: () => version })],
    });
  workspace.addSkill({ ...skill("2.0.0"), earlier: [skill("1.0.0")] });
  await workspace.activateSkill("talk");
  const steps = [{ id: "say", tool: "talk/say@1.0.0", args: {} }];

  const answer = await forge.createPipeline({
    name: "old",
    description: "Says what it was",
    steps,
    examples: [{ input: {}, output: "1.0.0" }],
  });

  expectLive(answer);
});

test("createPipeline() makes pipelines of pipelines", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  await forge.createPipeline(report);

  const answer = await forge.createPipeline({
    name: "twice",
    description: "Reports on two texts",
    steps: [
      { id: "one", tool: "report", args: { text: "$input.one" } },
      { id: "two", tool: "report", args: { text: "$input.two" } },
    ],
    result: ["$one.text", "$two.text"],
    examples: [{ input: { one: "a", two: "a b" }, output: ["There are 1 words", "There are 2 words"] }],
  });

  expectLive(answer);
  expect(await outputOf(workspace, "twice", { one: "x", two: "x y z" })).toEqual([
    "There are 1 words",
    "There are 3 words",
  ]);
});

test("createPipeline() refuses steps that are not there, and says what was meant", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);

  const answer = expectRefused(
    await forge.createPipeline({ ...report, steps: [{ id: "count", tool: "count-wrods", args: { text: "x" } }] }),
  );

  expect(answer.error.message).toContain('did you mean "count-words"');
  expect(workspace.getTool("report")).toBeUndefined();
});

test("createPipeline() refuses arguments that a step does not take, and fields that it does not give", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  const refusal = async (changes: Partial<PipelineDraft>): Promise<string> =>
    expectRefused(await forge.createPipeline({ ...report, ...changes })).error.message;

  expect(await refusal({ steps: [{ id: "count", tool: "count-words", args: { txt: "x" } }] })).toContain("txt");
  expect(await refusal({ result: "$count.letters" })).toContain("letters");
  expect(await refusal({ steps: [] })).toContain("steps");
});

test("updateTool() refuses steps that lead back to the pipeline itself", async () => {
  const { forge } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  await forge.createPipeline(report);
  await forge.createPipeline({
    ...report,
    name: "outer",
    steps: [{ id: "count", tool: "report", args: { text: "$input.text" } }],
    result: "$count.text",
    examples: [{ input: { text: "a" } }],
  });

  const self = await forge.updateTool("report", {
    steps: [{ id: "count", tool: "report", args: { text: "$input.text" } }],
    result: null,
    examples: [{ input: { text: "a" } }],
  });
  const round = await forge.updateTool("report", {
    steps: [{ id: "count", tool: "outer", args: { text: "$input.text" } }],
    result: null,
    examples: [{ input: { text: "a" } }],
  });

  expect(expectRefused(self).error.message).toContain("report → report");
  expect(expectRefused(round).error.message).toContain("report → outer → report");
});

test("createPipeline() waits for a person if a step needs an approval", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  workspace.add(defineTool({ name: "count", description: "Counts", needsApproval: true, run: () => 1 }));
  const steps = [{ id: "a", tool: "count" }];

  const answer = await forge.createPipeline({ name: "counted", description: "d", steps, examples: [{ input: {} }] });

  expect(answer).toMatchObject({ status: "waiting", laxer: ["to call count"] });
});

test("createPipeline() calls the live tools while it is tried, with all that holds for them", async () => {
  const { forge, workspace } = await openTestForge(runtimes, { approve: () => true });
  let calls = 0;
  workspace.add(defineTool({ name: "count", description: "Counts", needsApproval: true, run: () => (calls += 1) }));

  const answer = expectRefused(
    await forge.createPipeline({
      name: "counted",
      description: "Counts",
      steps: [{ id: "a", tool: "count" }],
      examples: [{ input: {} }],
    }),
  );

  expect(answer.error.message).toContain("it needs an approval");
  expect(calls).toBe(0);
});

test("a step that fails makes the pipeline fail, and does not look like success", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool({
    ...countWords,
    code: `${countWords.code}process.exitCode = text === "bad" ? 3 : 0;\n`,
  });
  await forge.createPipeline(report);

  const outcome = await workspace.call("report", { text: "bad" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "step-failed" } });
});

test("openForge() finds pipelines again, whatever their names, and one whose step is gone says so", async () => {
  const first = await openTestForge(runtimes);
  await first.forge.createTool(countWords);
  await first.forge.createPipeline({ ...report, name: "a-report" });
  await first.forge.createPipeline({
    ...report,
    name: "a-a-report",
    steps: [{ id: "count", tool: "a-report", args: { text: "$input.text" } }],
    result: "$count.text",
    examples: [{ input: { text: "a" } }],
  });
  await first.forge.close();

  const { directory, home } = first;
  const { forge, workspace } = await openTestForge(runtimes, { directory, home });
  const found = await outputOf(workspace, "a-a-report", { text: "x" });
  await forge.deleteTool("count-words");
  const without = { list: forge.listTools(), outcome: await outputOf(workspace, "a-report", { text: "x" }) };
  await forge.restoreTool("count-words");

  expect(found).toBe("There are 1 words");
  expect(without.list.find(({ name }) => name === "a-report")?.diagnostics).toMatchObject([{ code: "step-missing" }]);
  expect(without.outcome).toBe("step-failed");
  expect(await outputOf(workspace, "a-a-report", { text: "x y" })).toBe("There are 2 words");
  expect(forge.listTools().flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
});

test("updateTool() and deleteTool() name the pipelines that use the tool, those of skills too", async () => {
  const { forge, workspace } = await openTestForge(runtimes);
  await forge.createTool(countWords);
  const none = expectLive(await forge.updateTool("count-words", { title: "Words" }));
  await forge.createPipeline(report);
  const step = { id: "count", tool: "count-words@1.0.1", args: { text: "$input.text" } };
  workspace.add(definePipeline({ name: "pinned", description: "Counts as before", steps: [step] }));
  const free = { ...step, tool: "count-words" };
  const own = definePipeline({ name: "count", description: "Counts", steps: [free] });
  const shout = defineTool({ name: "count-words", description: "Counts its own way", run: () => ({ words: 0 }) });
  workspace.addSkill(defineSkill({ name: "texts", description: "Counts texts", tools: [own] }));
  workspace.addSkill(defineSkill({ name: "other", description: "Has its own", tools: [own, shout] }));

  const edited = expectLive(await forge.updateTool("count-words", { title: "All words" }));
  const deleted = await forge.deleteTool("count-words");
  const restored = expectLive(await forge.restoreTool("count-words"));

  expect(none).not.toHaveProperty("usedBy");
  expect(edited.usedBy).toEqual(["report", "texts/count"]);
  expect(deleted).toEqual({ name: "count-words", version: "1.0.2", usedBy: ["pinned", "report", "texts/count"] });
  expect(restored.usedBy).toEqual(["report", "texts/count"]);
});

test("createPipeline() tries a pipeline with the tools of a skill that is open, and says which to open", async () => {
  const digest = defineTool({
    name: "digest",
    description: "Makes a digest",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: () => "abc",
  });
  const skill = defineSkill({ name: "checksums", description: "Makes digests", tools: [digest] });
  const { forge, workspace } = await openTestForge(runtimes);
  workspace.addSkill(skill);
  const draft: PipelineDraft = {
    name: "digests",
    description: "Makes the digest of a text",
    steps: [{ id: "one", tool: "checksums/digest", args: { text: "$input.text" } }],
    examples: [{ input: { text: "x" }, output: "abc" }],
  };

  const closed = expectRefused(await forge.createPipeline(draft));
  await workspace.activateSkill("checksums");
  const open = await forge.createPipeline(draft);
  const called = await outputOf(workspace, "digests", { text: "x" });
  await workspace.deactivateSkill("checksums");

  expect(closed.error.message).toContain(
    'it belongs to the skill "checksums", which is closed; open skill "checksums" first',
  );
  expectLive(open);
  expect(called).toBe("abc");
  const outcome = await workspace.call("digests", { text: "x" });
  expect(JSON.stringify(outcome)).toContain("which is closed");
});

test("create_pipeline is tried with the skills that its caller has open in a session", async () => {
  const digest = defineTool({
    name: "digest",
    description: "Makes a digest",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: () => "abc",
  });
  const { forge, workspace } = await openTestForge(runtimes);
  workspace.addSkill(defineSkill({ name: "checksums", description: "Makes digests", tools: [digest] }));
  for (const tool of createForgeTools(forge)) workspace.add(tool);
  const session = workspace.openSession();
  const draft = {
    name: "digests",
    description: "Makes the digest of a text",
    steps: [{ id: "one", tool: "checksums/digest", args: { text: "$input.text" } }],
    examples: [{ input: { text: "x" }, output: "abc" }],
  };

  const closed = await session.call("create_pipeline", draft);
  await session.activateSkill("checksums");
  const open = await session.call("create_pipeline", draft);
  const called = await session.call("digests", { text: "x" });
  const elsewhere = await workspace.call("digests", { text: "x" });

  expect(JSON.stringify(closed)).toContain("which is closed");
  expect(open).toMatchObject({ status: "ok", output: { status: "live" } });
  expect(called).toMatchObject({ status: "ok", output: "abc" });
  expect(JSON.stringify(elsewhere)).toContain("which is closed");
});
