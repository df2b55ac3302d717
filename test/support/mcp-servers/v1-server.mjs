// A server on the first generation of the official SDK.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "first", version: "1.0.0" });
server.registerTool("upper", { description: "Writes it large", inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: "text", text: text.toUpperCase() }],
}));
await server.connect(new StdioServerTransport());
