import { afterAll, expect, test, vi } from "vitest";

import { connectHttp, listen, textOf } from "../../../../test/support/mcp-clients.ts";
import { openTestForge, openTestRuntimes } from "../../../../test/support/open-test-forge.ts";
import type { Forge } from "../../../forge/forge-interface.ts";
import { createWorkflowTools } from "../../../forge/workflow/create-workflow-tools.ts";
import { noClient, toClientWriter } from "./client-writer.ts";

vi.setConfig({ testTimeout: 60_000 });

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

const draft = {
  name: "shout",
  description: "Says a text loudly",
  language: "bash",
  code: 'read -r line; echo "LOUD"',
  examples: [{ input: {}, output: "LOUD" }],
};

test.for(["legacy", "pinned"] as const)(
  "generate_tool has the model of a %s client write the tool, and repair it by what the gate says",
  async (kind) => {
    const { forge } = await openTestForge(runtimes);
    addGenerateTool(forge);
    const { url } = await listen({ workspace: forge.workspace });
    const client = await connectHttp(url, { kind, capabilities: { sampling: {} } });
    const answers = [{ ...draft, code: "echo other" }, draft].map((one) => `Here it is: ${JSON.stringify(one)}`);
    const asked: unknown[] = [];
    client.setRequestHandler("sampling/createMessage", ({ params }) => {
      asked.push(params);
      return { model: "test", role: "assistant", content: { type: "text", text: answers[asked.length - 1] ?? "" } };
    });

    const made = await client.callTool({ name: "generate_tool", arguments: { description: "Says a text loudly" } });

    expect(JSON.parse(textOf(made))).toMatchObject({ how: "model", status: "live", name: "shout" });
    expect(asked).toMatchObject([
      { systemPrompt: expect.stringContaining("You write one tool"), messages: [{ role: "user" }] },
      { messages: [{ role: "user" }, { role: "assistant" }, { role: "user" }] },
    ]);
    expect(textOf(await client.callTool({ name: "shout", arguments: {} }))).toBe("LOUD");
  },
);

test("generate_tool names the nearest template to a client without a model, and to callers that are no clients", async () => {
  const { forge } = await openTestForge(runtimes);
  addGenerateTool(forge);
  const { url } = await listen({ workspace: forge.workspace });
  const client = await connectHttp(url);
  const wish = { description: "Makes a report of a CSV file", name: "report" };

  const made = await client.callTool({ name: "generate_tool", arguments: wish });
  const other = await forge.workspace.call("generate_tool", { ...wish, name: "other" });

  expect(textOf(made)).toContain("csv-report");
  expect(other).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
});

function addGenerateTool(forge: Forge): void {
  const tools = createWorkflowTools(forge, { sampling: toClientWriter });
  const generate = tools.find(({ name }) => name === "generate_tool");
  if (generate !== undefined) forge.workspace.add(generate, { injected: { sampling: noClient } });
}
