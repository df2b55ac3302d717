import { connect, type Socket } from "node:net";

import { exchange, modernVersion, type Generation } from "../mcp-drive.ts";

/** A client that costs as little as it can: one connection for requests, one on which it listens. */
export interface SoakClient {
  /** How often it was told that the tools changed. */
  readonly told: number;
  /** Calls `echo`. */
  call(text: string): Promise<void>;
  /** Lists the tools, and answers with their names. */
  list(): Promise<readonly string[]>;
  close(): void;
}

const notice = "notifications/tools/list_changed";
const meta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1.0.0" },
};

/** Connects, and resolves when it listens. */
export async function connectSoak(port: number, generation: Generation): Promise<SoakClient> {
  const socket = await open(port);
  const streaming = await open(port);
  const headers = generation === "2025" ? await beginSession(socket) : [];
  const listening = listen(streaming, generation === "2025" ? toGet(headers) : toListen());
  await listening.begun;
  let id = 10;
  const ask = async (method: string, params: object): Promise<string> => {
    id += 1;
    const body = generation === "2025" ? params : { ...params, _meta: meta };
    const own = generation === "2025" ? headers : toModernHeaders(method, params);
    const answer = await exchange(socket, toPost({ jsonrpc: "2.0", id, method, params: body }, own));
    if (!answer.startsWith("HTTP/1.1 200") || !answer.includes(`"id":${id}`)) {
      throw new Error(`${generation}: ${method} was answered with ${answer.slice(0, 500)}`);
    }
    return answer;
  };

  return {
    get told() {
      return listening.told();
    },
    async call(text) {
      const answer = await ask("tools/call", { name: "echo", arguments: { msg: text } });
      if (!answer.includes(`"text":"${text}"`)) throw new Error(`echo answered ${answer.slice(0, 500)}, not ${text}`);
    },
    async list() {
      const answer = await ask("tools/list", {});
      const { result } = JSON.parse(findJson(answer)) as { result: { tools: readonly { name: string }[] } };
      return result.tools.map(({ name }) => name);
    },
    close() {
      socket.destroy();
      streaming.destroy();
    },
  };
}

function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket.off("error", reject)));
  });
}

/** Answers with the headers of the session. */
async function beginSession(socket: Socket): Promise<readonly string[]> {
  const version = "2025-11-25";
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "soak", version: "1.0.0" } };
  const begun = await exchange(socket, toPost({ jsonrpc: "2.0", id: 1, method: "initialize", params }, []));
  const session = /\r\nmcp-session-id: ([^\r]+)/iu.exec(begun)?.[1];
  if (session === undefined) throw new Error(`No session began: ${begun.slice(0, 500)}`);
  const headers = [`mcp-session-id: ${session}`, `mcp-protocol-version: ${version}`];
  const ready = await exchange(socket, toPost({ jsonrpc: "2.0", method: "notifications/initialized" }, headers));
  if (!ready.startsWith("HTTP/1.1 202")) throw new Error(`A session was not ready: ${ready.slice(0, 500)}`);
  return headers;
}

function toModernHeaders(method: string, params: object): readonly string[] {
  const name = "name" in params ? [`mcp-name: ${String(params.name)}`] : [];
  return [`mcp-protocol-version: ${modernVersion}`, `mcp-method: ${method}`, ...name];
}

function toGet(headers: readonly string[]): Buffer {
  const head = ["GET /mcp HTTP/1.1", "host: 127.0.0.1", "accept: text/event-stream", ...headers];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n`);
}

function toListen(): Buffer {
  const method = "subscriptions/listen";
  const params = { notifications: { toolsListChanged: true }, _meta: meta };
  return toPost({ jsonrpc: "2.0", id: 1, method, params }, toModernHeaders(method, {}));
}

function toPost(message: object, headers: readonly string[]): Buffer {
  const body = JSON.stringify(message);
  const head = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Counts the notices that come. What comes in two pieces is put together. */
function listen(socket: Socket, bytes: Buffer): { begun: Promise<void>; told: () => number } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let count = 0;
  let rest = "";
  socket.on("data", (chunk: Buffer) => {
    const text = rest + chunk.toString("latin1");
    if (text.startsWith("HTTP/1.1") && !text.startsWith("HTTP/1.1 200")) reject(new Error(text.slice(0, 500)));
    resolve();
    const at = text.lastIndexOf(notice);
    count += text.split(notice).length - 1;
    rest = text.slice(at < 0 ? Math.max(0, text.length - notice.length) : at + notice.length);
  });
  socket.once("close", () => reject(new Error("A server closed the stream")));
  socket.write(bytes);
  return { begun: promise, told: () => count };
}

function findJson(answer: string): string {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  return body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1);
}
