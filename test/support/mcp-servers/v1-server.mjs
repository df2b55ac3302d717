// A server on the first generation of the official SDK.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "first", version: "1.0.0" });
server.registerTool("upper", { description: "Writes it large", inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: "text", text: text.toUpperCase() }],
}));
server.registerTool("ask", { description: "Asks its caller", inputSchema: {} }, async () => {
  const answer = await server.server.elicitInput({
    message: "Really?",
    requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } },
  });
  return { content: [{ type: "text", text: JSON.stringify(answer) }] };
});
await server.connect(new StdioServerTransport());
