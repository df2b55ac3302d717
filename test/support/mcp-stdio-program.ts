/** A server on stdio for tests: its tools add and remove tools, wait, and tell whether they were cancelled. */
import { createWorkspace, defineTool } from "kitbag";
import { createMcpServer } from "kitbag/mcp";

const workspace = createWorkspace();
let cancelled = 0;

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

workspace.add(
  defineTool({
    name: "make",
    description: "Adds a tool that answers with its own name",
    input: named,
    run({ name }) {
      workspace.add(defineTool({ name: name as string, description: "Answers", run: () => name as string }));
      return "made";
    },
  }),
);
workspace.add(
  defineTool({
    name: "unmake",
    description: "Removes a tool",
    input: named,
    run: ({ name }) => workspace.remove(name as string),
  }),
);
workspace.add(
  defineTool({
    name: "wait",
    description: "Waits until it is cancelled",
    run: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          cancelled += 1;
          resolve("cancelled");
        });
      }),
  }),
);
workspace.add(defineTool({ name: "cancelled", description: "Counts what was cancelled", run: () => cancelled }));
workspace.add(defineTool({ name: "broom", description: "Needs a yes", needsApproval: true, run: () => "swept" }));
let begun = 0;
workspace.add(
  defineTool({
    name: "sweep",
    description: "Calls the broom",
    async run(_input, { call }) {
      begun += 1;
      const outcome = await call("broom");
      return outcome.status === "ok" ? `${outcome.output as string}, ${begun} begun` : outcome.error.message;
    },
  }),
);

const server = createMcpServer({ workspace });
const serving = await server.serveStdio();
await serving.closed;
