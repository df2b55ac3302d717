/** A server of the SDK alone: `sdk.ts stdio|http <count of tools>`. Over HTTP it prints its address on standard error. */
import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

import { fillerNames, fillerSchema, listen } from "./parts.ts";

const [way, count = "1"] = process.argv.slice(2);
const fillers = fillerNames(Number(count));

function create(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool("echo", { description: "Echoes", inputSchema: z.object({ msg: z.string() }) }, ({ msg }) => ({
    content: [{ type: "text", text: msg }],
  }));
  for (const name of fillers) {
    server.registerTool(name, { description: "Fills the list", inputSchema: fromJsonSchema(fillerSchema) }, () => ({
      content: [],
    }));
  }
  return server;
}

if (way === "stdio") serveStdio(create);
else {
  const handle = toNodeHandler(createMcpHandler(create));
  listen(createServer((request, response) => void handle(request as never, response)));
}
