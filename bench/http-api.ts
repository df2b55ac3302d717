import { sendMany, startHttp, type HttpServer, type RawRequest } from "./mcp-drive.ts";
import type { Contender, Question } from "./question.ts";

const question: Question = {
  title: "What does a call of a tool cost over the HTTP API?",
  text: "32 connections that stay open call a tool that gives back its text, with records in memory: through the API (host, origin, limits, session, checks of the input, headers of the answer), and through a bare route of `node:http` that reads the body and makes the same call. Time by the clock of a call when 32 are sent at once, and CPU time of the server.",
  unit: "µs",
  rounds: 15,
  targets: [
    {
      text: "calls a second, bare route to API",
      unit: "×",
      limit: 1 / 0.7,
      value: (cost) => cost("API, 32 at once") / cost("bare route, 32 at once"),
    },
  ],
  contenders: async () => [
    ...(await contend("bare route", "bare", "/")),
    ...(await contend("API", "api", "/api/tools/echo/call")),
  ],
};

export default question;

async function contend(name: string, way: string, path: string): Promise<readonly Contender[]> {
  const server = await startHttp({ program: "api", args: [way] });
  const request = toRequest(path);
  await sendMany(server.port, request, 3000, 32);
  return [
    { name: `${name}, 32 at once`, measure: () => elapsed(server, request) },
    { name: `${name}, CPU of the server`, measure: () => cpu(server, request) },
  ];
}

const calls = 2000;

async function elapsed({ port }: HttpServer, request: RawRequest): Promise<number> {
  const start = performance.now();
  await sendMany(port, request, calls, 32);
  return ((performance.now() - start) * 1000) / calls;
}

async function cpu(server: HttpServer, request: RawRequest): Promise<number> {
  const before = server.cpu();
  await sendMany(server.port, request, calls, 32);
  return (server.cpu() - before) / calls;
}

function toRequest(path: string): RawRequest {
  const body = JSON.stringify({ input: { msg: "hello" } });
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return { bytes: Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`), mustHold: '"output":"hello"' };
}
