/** A server on stdio for tests: its tools add and remove tools, wait, and tell whether they were cancelled. */
import { createWorkspace, defineTool, memoryStore } from "kitbag";
import { createMcpServer } from "kitbag/mcp";
import { createRuns } from "kitbag/store";

const store = memoryStore();
const workspace = createWorkspace({ store });
let cancelled = 0;

const named = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

workspace.add(
  defineTool({
    name: "make",
    description: "Adds a tool that answers with its own name",
    input: named,
    run({ name }) {
      workspace.add(defineTool({ name: name, description: "Answers", run: () => name }));
      return "made";
    },
  }),
);
workspace.add(
  defineTool({
    name: "unmake",
    description: "Removes a tool",
    input: named,
    run: ({ name }) => workspace.remove(name),
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
const run = createRuns({ store }).open("report");
workspace.add(
  defineTool({
    name: "run-on",
    description: "Lets a run go on",
    run: async () => (await run).append([{ type: "noted" }]),
  }),
);

const server = createMcpServer({ workspace, store });
const serving = await server.serveStdio();
await serving.closed;
