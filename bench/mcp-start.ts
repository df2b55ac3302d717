import { connectStdio, type ServerProgram } from "./mcp-drive.ts";
import type { Contender, Question } from "./question.ts";

const question: Question = {
  title: "How soon does an MCP server answer?",
  text: "The official client starts a server with one tool and asks for its list, over stdio: from the start of the process to the list.",
  unit: "ms",
  rounds: 15,
  targets: [
    {
      text: "Kitbag to the SDK alone",
      unit: "×",
      limit: 1.3,
      value: (cost) => cost("Kitbag") / cost("SDK v2"),
    },
  ],
  contenders: async () => [
    contend("SDK v2", { program: "sdk" }),
    contend("Kitbag", { program: "kitbag" }),
    contend("SDK v1", { program: "sdk1" }),
    contend("fastmcp", { program: "fastmcp" }),
  ],
};

export default question;

function contend(name: string, server: ServerProgram): Contender {
  return {
    name,
    async measure() {
      const start = performance.now();
      const client = await connectStdio(server, "2025");
      const { tools } = await client.listTools();
      const elapsed = performance.now() - start;
      if (tools.length === 0) throw new Error(`${name} has no tools`);
      await client.close();
      return elapsed;
    },
  };
}
