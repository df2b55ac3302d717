/** A server of fastmcp: `fastmcp.ts stdio|http`. */
import { join } from "node:path";

import { z } from "zod";

/** What is used of fastmcp. */
interface FastMcp {
  readonly FastMCP: new (options: object) => {
    addTool(tool: object): void;
    start(options: object): Promise<void>;
  };
}

const file = join(import.meta.dirname, "../peers/node_modules/fastmcp/dist/FastMCP.js");
const { FastMCP } = (await import(file)) as FastMcp;
const server = new FastMCP({ name: "bench", version: "1.0.0", logger: silent() });
server.addTool({
  name: "echo",
  description: "Echoes",
  parameters: z.object({ msg: z.string() }),
  execute: async ({ msg }: { msg: string }) => msg,
});
const port = 20_000 + (process.pid % 20_000);
if (process.argv[2] === "stdio") await server.start({ transportType: "stdio" });
else {
  await server.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1", stateless: true } });
  process.stderr.write(`listening http://127.0.0.1:${port}/mcp\n`);
}

function silent(): Readonly<Record<string, () => void>> {
  const nothing = (): void => {};
  return { debug: nothing, error: nothing, info: nothing, log: nothing, warn: nothing };
}
