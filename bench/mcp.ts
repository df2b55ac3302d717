import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Client } from "@modelcontextprotocol/client";

import { callMany, connectStdio, type Generation, type ServerProgram } from "./mcp-drive.ts";
import type { Contender, Question, Target } from "./question.ts";

const folder = mkdtempSync(join(tmpdir(), "kitbag-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const sdk = "SDK v2";
const kitbag = "Kitbag";
const kept = "Kitbag, kept on disk";

/** In 1/s: at least so much of the SDK's. */
function target(name: string, least: number, kind: string): Target {
  return {
    text: `${name} to the SDK alone: time of a call, ${kind}`,
    unit: "×",
    limit: 1 / least,
    value: (cost) => cost(`${name}, ${kind}`) / cost(`${sdk}, ${kind}`),
  };
}

const question: Question = {
  title: "What does a call of a tool cost an MCP client, over stdio?",
  text: "The official client in this process calls a tool that gives back its text, in a server that it started, one call after the other and 32 at once, in both generations of the protocol. Kitbag goes its whole way (checks, limits, records in memory, or on disk before it answers); the others do what their examples say.",
  unit: "µs a call",
  rounds: 61,
  targets: [
    target(kitbag, 0.95, "2026, in turn"),
    target(kitbag, 0.95, "2026, 32 at once"),
    target(kitbag, 0.95, "2025, in turn"),
    target(kitbag, 0.95, "2025, 32 at once"),
    target(kept, 0.4, "2025, in turn"),
  ],
  async contenders() {
    const onDisk = { program: "kitbag", args: ["1", join(folder, "kitbag.db")] } as const;
    return [
      ...(await contend(sdk, { program: "sdk" }, "2026")),
      ...(await contend(kitbag, { program: "kitbag" }, "2026")),
      ...(await contend(sdk, { program: "sdk" }, "2025")),
      ...(await contend(kitbag, { program: "kitbag" }, "2025")),
      ...(await contend(kept, onDisk, "2025")),
      ...(await contend("SDK v1", { program: "sdk1" }, "2025")),
      ...(await contend("fastmcp", { program: "fastmcp" }, "2025")),
    ];
  },
};

export default question;

async function contend(name: string, server: ServerProgram, generation: Generation): Promise<readonly Contender[]> {
  const client = await connectStdio(server, generation);
  process.on("exit", () => void client.close());
  await callMany(client, 2000, 32);
  return [
    { name: `${name}, ${generation}, in turn`, measure: () => elapsed(client, 400, 1) },
    { name: `${name}, ${generation}, 32 at once`, measure: () => elapsed(client, 1600, 32) },
  ];
}

async function elapsed(client: Client, count: number, atOnce: number): Promise<number> {
  const start = performance.now();
  await callMany(client, count, atOnce);
  return ((performance.now() - start) * 1000) / count;
}
