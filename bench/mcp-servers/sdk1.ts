/** A server of the SDK's first version: `sdk1.ts stdio|http`. */
import { createServer } from "node:http";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

import { listen } from "./parts.ts";

function create(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("echo", { description: "Echoes", inputSchema: { msg: z.string() } }, ({ msg }) => ({
    content: [{ type: "text", text: msg }],
  }));
  return server;
}

if (process.argv[2] === "stdio") await create().connect(new StdioServerTransport());
else {
  const server = createServer((request, response) => {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on("close", () => void transport.close());
    void create()
      .connect(transport as never)
      .then(() => transport.handleRequest(request, response));
  });
  listen(server);
}
