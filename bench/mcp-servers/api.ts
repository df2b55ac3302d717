/** The HTTP API, `api.ts http api`, or a bare route of `node:http` that makes the same call: `api.ts http bare`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

import { createWorkspace, defineTool, memoryStore } from "kitbag";
import { createApiRoute } from "kitbag/http";
import { openGate } from "kitbag/mcp";

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  input: { type: "object", properties: { msg: { type: "string" } }, required: ["msg"] },
  run: ({ msg }) => msg,
});
const store = memoryStore();
const workspace = createWorkspace({ tools: [echo], store });
if (process.argv[3] === "api") {
  const route = createApiRoute({ workspace, store });
  const gate = await openGate({ routes: [route] });
  process.stderr.write(`listening ${gate.url}/api\n`);
} else {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { input } = (await json(request)) as { readonly input: unknown };
    const body = JSON.stringify(await workspace.call("echo", input));
    response
      .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      .end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1", () => {
    process.stderr.write(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
}
