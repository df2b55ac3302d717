import { setTimeout as wait } from "node:timers/promises";

import { inputRequired, type InputRequest } from "@modelcontextprotocol/server";
import { defineTool, injected, type Tool } from "kitbag";
import type { McpClientAccess } from "kitbag/mcp";

/** The tools of the suite whose calls go on as tasks. */
export const taskTools: readonly Tool[] = [
  defineTool({
    name: "greet",
    description: "Greets, at once",
    input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    run: ({ name }) => `Hello, ${name as string}!`,
  }),
  defineTool({
    name: "slow_compute",
    description: "Takes some seconds",
    input: { type: "object", properties: { seconds: { type: "number" }, label: { type: "string" } } },
    limits: { limitMs: 120_000 },
    async run({ seconds }, { signal, progress }) {
      progress({ message: "computing" });
      await wait(Number(seconds) * 1000, undefined, { signal });
      return "computed";
    },
  }),
  long("failing_job", async (mcp) => {
    mcp.continueAsTask();
    await wait(1000);
    throw new Error("The job failed");
  }),
  long("protocol_error_job", async (mcp) => {
    await wait(1000);
    // The client of the suite has no folders to tell of.
    await mcp.ask({ folders: inputRequired.listRoots() });
    return "unreachable";
  }),
  long("confirm_delete", async (mcp) => {
    mcp.continueAsTask();
    return JSON.stringify(await mcp.ask({ confirm: confirm("Delete it?") }));
  }),
  long("multi_input", async (mcp) => {
    mcp.continueAsTask();
    return JSON.stringify(await mcp.ask({ first: confirm("The first?"), second: confirm("The second?") }));
  }),
  long("test_tool_with_task", async (mcp) => {
    const { user_name: answer } = await mcp.ask({
      user_name: form("What is your name?", { name: { type: "string" } }),
    });
    mcp.continueAsTask();
    await wait(300);
    return `Hello, ${JSON.stringify(answer)}`;
  }),
];

function long(name: string, run: (mcp: McpClientAccess) => Promise<string>): Tool {
  return defineTool({
    name,
    description: `Takes long, as the suite wants: ${name}`,
    input: { type: "object", properties: { filename: { type: "string" } } },
    inject: { mcp: injected<McpClientAccess>() },
    run: (_input, { injected: { mcp } }) => run(mcp),
  });
}

function confirm(message: string): InputRequest {
  return form(message, { confirm: { type: "boolean" }, name: { type: "string" } });
}

function form(message: string, properties: object): InputRequest {
  return inputRequired.elicit({ message, requestedSchema: { type: "object", properties } as never });
}
