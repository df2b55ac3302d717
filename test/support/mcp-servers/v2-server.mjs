// A server on the second generation of the official SDK.
import { McpServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "second", version: "1.0.0" });
  const inputSchema = fromJsonSchema({
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  });
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool(
    "add",
    { title: "Add", description: "Adds two numbers", inputSchema, annotations },
    ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }),
  );
  return server;
});
