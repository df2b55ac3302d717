import {
  sendMany,
  startHttp,
  toRequest,
  type Generation,
  type HttpServer,
  type RawRequest,
  type ServerProgram,
} from "./mcp-drive.ts";
import type { Contender, Question } from "./question.ts";

const cpuOf = (name: string): string => `${name}, CPU of the server`;
const timeOf = (name: string): string => `${name}, 32 at once`;
const listOf = (name: string): string => `${name}, list of 1,000 tools, CPU of the server`;

const question: Question = {
  title: "What does a call of a tool cost an MCP server over HTTP?",
  text: "A load that costs as little as it can (32 connections that stay open, requests made before) calls a tool that gives back its text, and lists 1,000 tools. The CPU time of all threads of the server, and the time by the clock of a call when 32 are sent at once. Kitbag goes its whole way: host, origin, limits, checks, records in memory.",
  unit: "µs",
  rounds: 15,
  targets: [
    {
      text: "Kitbag to the SDK alone: CPU of a call",
      unit: "×",
      limit: 0.5,
      value: (cost) => cost(cpuOf("Kitbag, 2026")) / cost(cpuOf("SDK v2, 2026")),
    },
    {
      text: "Kitbag to the SDK alone: time of a call, 32 at once",
      unit: "×",
      limit: 0.5,
      value: (cost) => cost(timeOf("Kitbag, 2026")) / cost(timeOf("SDK v2, 2026")),
    },
    {
      text: "Kitbag to the SDK alone: CPU of a list of 1,000 tools",
      unit: "×",
      limit: 0.1,
      value: (cost) => cost(listOf("Kitbag, 2026")) / cost(listOf("SDK v2, 2026")),
    },
  ],
  contenders: async () => [
    ...(await contend("SDK v2", { program: "sdk" }, "2026")),
    ...(await contend("Kitbag", { program: "kitbag" }, "2026")),
    ...(await contend("SDK v1", { program: "sdk1" }, "2025")),
    ...(await contend("fastmcp", { program: "fastmcp" }, "2025")),
    await contendList("SDK v2", { program: "sdk", args: ["1000"] }),
    await contendList("Kitbag", { program: "kitbag", args: ["1000"] }),
  ],
};

export default question;

async function contend(name: string, program: ServerProgram, generation: Generation): Promise<readonly Contender[]> {
  const server = await startHttp(program);
  const request = toRequest("tools/call", { name: "echo", arguments: { msg: "hello" } }, generation, '"text":"hello"');
  const full = `${name}, ${generation}`;
  await sendMany(server.port, request, 2000, 32);
  return [
    { name: cpuOf(full), measure: () => cpu(server, request, 1000) },
    { name: timeOf(full), measure: () => elapsed(server, request, 1000) },
  ];
}

async function contendList(name: string, program: ServerProgram): Promise<Contender> {
  const server = await startHttp(program);
  const request = toRequest("tools/list", {}, "2026", '"tool_0998"');
  await sendMany(server.port, request, 100, 4);
  return { name: listOf(`${name}, 2026`), measure: () => cpu(server, request, 50) };
}

async function cpu(server: HttpServer, request: RawRequest, count: number): Promise<number> {
  const before = server.cpu();
  await sendMany(server.port, request, count, 32);
  return (server.cpu() - before) / count;
}

async function elapsed({ port }: HttpServer, request: RawRequest, count: number): Promise<number> {
  const start = performance.now();
  await sendMany(port, request, count, 32);
  return ((performance.now() - start) * 1000) / count;
}
