/** A server over HTTP for tests with many clients: its tools change the list of tools, and tell how much memory is used. */
import { once } from "node:events";

import { createWorkspace, defineTool } from "kitbag";
import { createMcpServer, openGate } from "kitbag/mcp";

const workspace = createWorkspace({
  tools: [
    defineTool({
      name: "echo",
      description: "Answers with what it is given",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: ({ text }) => text ?? null,
    }),
    defineTool({
      name: "change",
      description: "Puts a tool in the place of the one that was made before",
      input: { type: "object", properties: { revision: { type: "integer" } }, required: ["revision"] },
      run({ revision }) {
        workspace.change(() => {
          workspace.remove(`revision-${Number(revision) - 1}`);
          workspace.add(
            defineTool({ name: `revision-${Number(revision)}`, description: "Now", run: () => revision ?? null }),
          );
        });
        return "changed";
      },
    }),
    defineTool({
      name: "memory",
      description: "Tells how many bytes live on the heap",
      run() {
        globalThis.gc?.();
        return process.memoryUsage().heapUsed;
      },
    }),
  ],
});
const server = createMcpServer({ workspace });
const gate = await openGate({ routes: [server.route()] });
process.stdout.write(`${gate.url}/mcp\n`);
await once(process.stdin.resume(), "end");
await gate.close({ graceMs: 1000 });
await server.close();
