/** Our server: `kitbag.ts stdio|http <count of tools> [file of a store]`. */
import { createWorkspace, defineTool, memoryStore } from "kitbag";
import { createMcpServer, openGate } from "kitbag/mcp";

import { fillerNames, fillerSchema } from "./parts.ts";

const [way, count = "1", file] = process.argv.slice(2);
const echo = defineTool({
  name: "echo",
  description: "Echoes",
  input: { type: "object", properties: { msg: { type: "string" } }, required: ["msg"] },
  run: ({ msg }) => msg,
});
const fillers = fillerNames(Number(count)).map((name) =>
  defineTool({ name, description: "Fills the list", input: fillerSchema, run: () => "" }),
);
const store = file === undefined ? memoryStore() : await (await import("kitbag/store")).sqliteStore({ file });
const workspace = createWorkspace({ tools: [echo, ...fillers], store });
const server = createMcpServer({ workspace, exposure: "direct" });
if (way === "stdio") await server.serveStdio();
else {
  const gate = await openGate({ routes: [server.route()] });
  process.stderr.write(`listening ${gate.url}/mcp\n`);
}
