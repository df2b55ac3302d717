import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { connectStdio, type ServerProgram } from "./mcp-drive.ts";
import type { Contender, Question } from "./question.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const question: Question = {
  title: "How soon does an MCP server answer?",
  text: "The official client starts a server with one tool and asks for its list, over stdio: from the start of the process to the list. `kitbag serve` is the command, with a store, the example skills and all that makes tools; it was started once before.",
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
  async contenders() {
    const command = contend("kitbag serve", connectCommand);
    await command.measure();
    return [
      contendProgram("SDK v2", { program: "sdk" }),
      contendProgram("Kitbag", { program: "kitbag" }),
      command,
      contendProgram("SDK v1", { program: "sdk1" }),
      contendProgram("fastmcp", { program: "fastmcp" }),
    ];
  },
};

export default question;

function contendProgram(name: string, server: ServerProgram): Contender {
  return contend(name, () => connectStdio(server, "2025"));
}

function contend(name: string, connect: () => Promise<Client>): Contender {
  return {
    name,
    async measure() {
      const start = performance.now();
      const client = await connect();
      const { tools } = await client.listTools();
      const elapsed = performance.now() - start;
      if (tools.length === 0) throw new Error(`${name} has no tools`);
      await client.close();
      return elapsed;
    },
  };
}

/** The command, in a project and with a home of its own. */
async function connectCommand(): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" });
  const args = [join(root, "dist/cli/main.js"), "serve", "--project", folder, join(root, "skills")];
  const env = { PATH: process.env["PATH"] ?? "", KITBAG_HOME: join(folder, "home") };
  // It says on standard error that nobody trusts the skills of this project yet.
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}
