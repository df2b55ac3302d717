import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../store/runs/create-runs.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentRun } from "../agent-run.ts";
import { createAgent } from "../create-agent.ts";
import type { InputRedaction } from "./input-redactor.ts";

const mail = ["ada", "example.com"].join("@");
const password = ["postgres://ada", "hunter2@db.example/main"].join(":");

test("redactInput takes secrets and personal data out of all that a model sees, and of the journal", async () => {
  const { model, journal } = await runWith(true);

  const seen = JSON.stringify(model.asked.map(({ prompt }) => prompt));
  expect(seen).toContain("[email]");
  for (const text of [seen, journal]) {
    expect(text).not.toContain(mail);
    expect(text).not.toContain("hunter2");
  }
});

test("redactInput takes out some kinds only", async () => {
  const { model } = await runWith(["credentials"]);

  const seen = JSON.stringify(model.asked.map(({ prompt }) => prompt));
  expect(seen).toContain(mail);
  expect(seen).not.toContain("hunter2");
});

test.for<InputRedaction | undefined>([undefined, false, []])("redactInput: %j changes nothing", async (choice) => {
  const { model } = await runWith(choice);

  expect(JSON.stringify(model.asked[2]?.prompt).split(mail)).toHaveLength(5);
});

test("redactInput leaves pictures and the reasoning of a model as they are", async () => {
  const model = mockModel(["Fine"]);
  const data = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");
  const agent = createAgent({ model, workspace: createWorkspace(), redactInput: true });

  await agent.run([
    { role: "user", content: [{ type: "text", text: "Hello" }] },
    { role: "assistant", content: [{ type: "reasoning", text: mail, providerOptions: { acme: { signature: "s" } } }] },
    { role: "user", content: [{ type: "file", mediaType: "image/gif", data: { type: "data", data } }] },
  ]).result;

  expect(JSON.stringify(model.asked[0]?.prompt[1])).toContain(mail);
  expect(model.asked[0]?.prompt[2]?.content[0]).toMatchObject({ type: "file" });
});

test.for(["yes", 1, ["everything"], {}])("createAgent() refuses redactInput: %j", (redactInput) => {
  const make = (): unknown =>
    createAgent({ model: mockModel([]), workspace: createWorkspace(), redactInput: redactInput as never });

  expect(make).toThrow(expect.objectContaining({ code: "option-invalid" }));
});

/** A run whose task, steering, outputs and failures hold what is not for models. */
async function runWith(redactInput: InputRedaction | undefined): Promise<{ model: MockModel; journal: string }> {
  const find = defineTool({ name: "find", description: "Finds", run: () => ({ owner: mail, url: password }) });
  const fail = defineTool({
    name: "fail",
    description: "Fails",
    run() {
      throw new Error(`no answer of ${mail}`);
    },
  });
  const store = memoryStore();
  const model = mockModel([{ calls: [{ tool: "find" }] }, { calls: [{ tool: "fail" }] }, "Done"]);
  const workspace = createWorkspace({ tools: [find, fail] });
  const agent = createAgent({ model, workspace, store, ...(redactInput !== undefined && { redactInput }) });
  const run: AgentRun = agent.run(`Ask ${mail} about ${password}`, {
    onEvent: (event) => event.type === "tool-end" && event.step === 1 && run.steer(`Copy ${mail}`),
  });
  await run.result;
  return { model, journal: JSON.stringify(await createRuns({ store }).read(run.id)) };
}
