import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** A server program in `mcp-servers`, and what it is started with. */
export interface ServerProgram {
  readonly program: "api" | "fastmcp" | "kitbag" | "sdk" | "sdk1";
  readonly args?: readonly string[];
}

/** The generations of the protocol. */
export type Generation = "2025" | "2026";

/** The version that clients of 2026 speak. */
export const modernVersion = "2026-07-28";

function toArgs({ program, args = [] }: ServerProgram, way: "stdio" | "http"): readonly string[] {
  const own = args.length === 0 ? ["1"] : args;
  return ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, `mcp-servers/${program}.ts`), way, ...own];
}

/** Connects the official client to a server that it starts. */
export async function connectStdio(server: ServerProgram, generation: Generation): Promise<Client> {
  const mode = generation === "2025" ? "legacy" : { pin: modernVersion };
  const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode } });
  const args = [...toArgs(server, "stdio")];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }));
  return client;
}

/** Calls `echo` so often, so many at once. */
export async function callMany(client: Client, count: number, atOnce: number): Promise<void> {
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      const msg = `m${begun}`;
      const { content } = await client.callTool({ name: "echo", arguments: { msg } });
      const [first] = content as readonly { readonly text?: string }[];
      if (first?.text !== msg) throw new Error(`A server answered ${JSON.stringify(content)} to ${msg}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** A server over HTTP. */
export interface HttpServer {
  readonly port: number;
  /** The CPU time of all its threads so far, in microseconds. */
  cpu(): number;
}

/** Starts a server over HTTP; it ends with this process. */
export async function startHttp(server: ServerProgram): Promise<HttpServer> {
  const child = spawn(process.execPath, toArgs(server, "http"), { stdio: ["ignore", "ignore", "pipe"] });
  process.on("exit", () => child.kill("SIGKILL"));
  const port = await findPort(child);
  return { port, cpu: () => readCpu(child.pid ?? 0) };
}

async function findPort(child: ChildProcess): Promise<number> {
  let text = "";
  for await (const chunk of child.stderr ?? []) {
    text += String(chunk);
    const port = /listening http:\/\/127\.0\.0\.1:(\d+)/u.exec(text)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`A server did not start: ${text}`);
}

/** In microseconds; threads that are over are not in it. */
function readCpu(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const times = readdirSync(folder).map((task) => readFileSync(join(folder, task, "schedstat"), "utf8").split(" ")[0]);
  return times.reduce((sum, time) => sum + Number(time), 0) / 1000;
}

/** A request as bytes, and what its answer must hold. */
export interface RawRequest {
  readonly bytes: Buffer;
  readonly mustHold: string;
}

/** Makes a request of a method that has everything which a client must say. */
export function toRequest(method: string, params: object, generation: Generation, mustHold: string): RawRequest {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": modernVersion,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  };
  const own = generation === "2025" ? params : { ...params, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: own });
  const name = "name" in params ? [`mcp-name: ${String(params.name)}`] : [];
  const modernHeaders = [`mcp-protocol-version: ${modernVersion}`, `mcp-method: ${method}`, ...name];
  const head = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    ...(generation === "2025" ? ["mcp-protocol-version: 2025-11-25"] : modernHeaders),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return { bytes: Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`), mustHold };
}

/** Sends a request so often, over so many connections that stay open: a load that costs as little as it can. */
export async function sendMany(port: number, request: RawRequest, count: number, connections: number): Promise<void> {
  let begun = 0;
  const work = async (): Promise<void> => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    try {
      while (begun < count) {
        begun += 1;
        const answer = await exchange(socket, request.bytes);
        if (!answer.includes(request.mustHold)) throw new Error(`A server answered ${answer.slice(0, 500)}`);
      }
    } finally {
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
}

/** Sends a request, and answers with the whole answer. */
export function exchange(socket: Socket, bytes: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const finish = (): void => {
    socket.off("data", onData);
    socket.off("error", reject);
    socket.off("close", onClose);
  };
  const onClose = (): void => reject(new Error(`A server closed the connection after ${text.slice(0, 300)}`));
  const onData = (chunk: Buffer): void => {
    text += chunk.toString("latin1");
    if (!isWhole(text)) return;
    finish();
    resolve(text);
  };
  socket.on("data", onData);
  socket.on("error", reject);
  socket.on("close", onClose);
  socket.write(bytes);
  return promise;
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/iu.exec(text.slice(0, end + 2))?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= end + 4 + Number(length);
}
