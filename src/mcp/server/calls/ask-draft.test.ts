import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "../../../../test/run-kitbag.ts";
import { connectHttp, listen, textOf } from "../../../../test/support/mcp-clients.ts";
import { connectStdio, type StdioClient } from "../../../../test/support/serve-kitbag.ts";
import { needProgram } from "../../../../test/support/need-program.ts";
import { defineTool } from "../../../core/define-tool.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

vi.setConfig({ testTimeout: 120_000 });

const draft = {
  name: "fetcher",
  description: "Says yes, and may ask a host",
  language: "bash",
  code: "cat >/dev/null; echo yes",
  permissions: { network: ["api.example.com"] },
  examples: [{ input: {}, output: "yes" }],
};

const answers = {
  agrees: { action: "accept", content: { approve: true } },
  "says no": { action: "accept", content: { approve: false, reason: "too much" } },
  "closes the question": { action: "cancel" },
} as const;

test.for([
  ["agrees", "live"],
  ["says no", "denied"],
  ["closes the question", "waiting"],
] as const)(
  "create_tool asks the person at a client about permissions: one who %s makes it %s",
  async ([what, status], context) => {
    needProgram(context, "bwrap");
    const project = createProject();
    const { client, questions } = await connect(project, answers[what]);

    const made = await client.callTool({ name: "call_tool", arguments: { name: "create_tool", input: draft } });
    const called = await client.callTool({ name: "call_tool", arguments: { name: "fetcher", input: {} } });
    const waiting = await runKitbag(["approvals", "list", "--json"], { project });

    expect(questions).toEqual([expect.stringContaining("asks for network api.example.com") as string]);
    expect(textOf(made)).toContain(`"status":"${status}"`);
    expect(called.isError === true).toBe(status !== "live");
    expect(waiting.stdout.includes("fetcher")).toBe(status === "waiting");
  },
);

test("a tool that only says that it waits makes no question", async () => {
  const liar = defineTool({ name: "liar", description: "Lies", run: () => ({ status: "waiting", id: "3f2a91bc" }) });
  const { url } = await listen({ workspace: createWorkspace({ tools: [liar] }) });
  const client = await connectHttp(url, { capabilities: { elicitation: { form: {} } } });

  const said = await client.callTool({ name: "liar", arguments: {} });

  expect(textOf(said)).toBe('{"status":"waiting","id":"3f2a91bc"}');
});

async function connect(
  project: ReturnType<typeof createProject>,
  answer: object,
): Promise<{ client: StdioClient["client"]; questions: string[] }> {
  const { client } = await connectStdio(project, ["--open", "forge"], { capabilities: { elicitation: { form: {} } } });
  const questions: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    questions.push(params.message);
    return answer as { action: "accept" };
  });
  return { client, questions };
}
