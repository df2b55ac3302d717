/** Puts a client through the same steps as all others, and says of each what was seen. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { program, type Project } from "../run-kitbag.ts";
import { startHttp, toEnvironment } from "../support/serve-kitbag.ts";
import type { Answer, ClientUnderTest, ConnectedClient, Reach } from "./client-under-test.ts";
import { type CounterProject, counterWords } from "./counter-project.ts";

/** What the columns of the table say: `–` is what a client does not offer, `call_tool` what it does through that tool. */
export type Cell = "yes" | "no" | "call_tool" | "–";

/** What was seen of a client. */
export interface Row {
  readonly protocol: string;
  readonly list: Cell;
  readonly open: Cell;
  /** Whether the tools of the opened skill are in the list that the client reads next. */
  readonly appear: Cell;
  readonly told: Cell;
  readonly call: Cell;
  readonly progress: Cell;
  readonly cancel: Cell;
  readonly error: Cell;
  readonly resource: Cell;
}

/** Serves a project, and the way to it; `protocol` says which version the client spoke. */
export interface ServedProject {
  readonly reach: Reach;
  protocol(): string;
}

/** Starts `kitbag serve` for one client, with `words` on its command line. */
export async function serveFor(
  project: Project,
  over: Reach["over"],
  words: readonly string[],
): Promise<ServedProject> {
  if (over === "http") {
    const { url } = await startHttp(project, [...words, "--no-token"]);
    return tapHttp(new URL(url));
  }
  const [command, ...args] = program;
  const file = join(project.folder, "sent.jsonl");
  writeFileSync(file, "");
  const tap = [
    join(import.meta.dirname, "stdio-tap.ts"),
    file,
    command,
    ...args,
    "serve",
    "--project",
    project.folder,
    ...words,
  ];
  const reach = {
    over,
    command: process.execPath,
    args: tap,
    env: toEnvironment(project),
    cwd: project.folder,
  } as const;
  return { reach, protocol: () => findProtocol(readFileSync(file, "utf8")) };
}

/** The version that the client spoke in the end: the newer generation names it in each request. */
function findProtocol(sent: string): string {
  const named = /"io\.modelcontextprotocol\/protocolVersion":"([\d-]+)"/gu;
  const first =
    [...sent.matchAll(/"method":"initialize"/gu)].length > 0
      ? /"protocolVersion":"([\d-]+)"/u.exec(sent)?.[1]
      : undefined;
  return first ?? [...sent.matchAll(named)].at(-1)?.[1] ?? "unknown";
}

/** A proxy that passes everything on and keeps what the client sent. */
async function tapHttp(target: URL): Promise<ServedProject> {
  let sent = "";
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const headers = { ...incoming.headers, host: target.host };
    const passed = request(new URL(incoming.url ?? "/", target), { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    response.on("close", () => passed.destroy());
    passed.on("error", () => response.destroy());
    incoming.on("data", (chunk: Buffer) => (sent += chunk.toString()));
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    reach: { over: "http", url: `http://127.0.0.1:${port}${target.pathname}` },
    protocol: () => findProtocol(sent),
  };
}

/** Connects a client to a server of its own, and looks at what it does. */
export async function driveClient(
  client: ClientUnderTest,
  over: Reach["over"],
  project: CounterProject,
  words: readonly string[] = [],
): Promise<Row> {
  const { reach, protocol } = await serveFor(project, over, [...counterWords, ...words]);
  const connected = await client.connect(reach);
  try {
    return { ...(await look(connected, project)), protocol: protocol() };
  } finally {
    await connected.close();
  }
}

async function look(client: ConnectedClient, project: CounterProject): Promise<Omit<Row, "protocol">> {
  const { can } = client;
  const list = toCell((await client.list()).includes("activate_skill"));
  // The stream on which a client is told opens after it is connected.
  await pause(client.told === undefined ? 0 : 300);
  const opened = await client.call("activate_skill", { name: "counter" });
  const told = client.told === undefined ? "–" : toCell(await until(() => (client.told?.() ?? 0) > 0));
  const appear = toCell((await client.list()).includes("counter__count"));
  let steps = 0;
  const called = await client.call("counter__count", { to: 3 }, can.progress ? { onProgress: () => (steps += 1) } : {});
  const failed = await client.call("counter__fail", {});
  const cancel = can.cancel ? await lookAtCancel(client, project) : "–";
  const resource =
    client.readResource === undefined
      ? "–"
      : toCell((await client.readResource("kitbag://guide")).includes("# Kitbag"));
  return {
    list,
    open: toCell(!opened.failed && opened.text.includes("counter__count")),
    appear,
    told,
    call: toDone(called, !called.failed && called.text.includes("counted 3")),
    progress: can.progress ? toCell(steps > 0) : "–",
    cancel,
    error: toDone(failed, failed.text.includes("the counter is broken")),
    resource,
  };
}

async function lookAtCancel(client: ConnectedClient, project: CounterProject): Promise<Cell> {
  const stop = new AbortController();
  const waiting = client.call("counter__wait", {}, { signal: stop.signal });
  const began = await until(() => project.seen("began"));
  stop.abort();
  const ended = await until(() => project.seen("cancelled"));
  await Promise.race([waiting, pause(1000)]);
  return toCell(began && ended);
}

function toDone({ isIndirect }: Answer, isDone: boolean): Cell {
  return isDone && isIndirect === true ? "call_tool" : toCell(isDone);
}

/** A cell that says whether something was seen. */
export function toCell(seen: boolean): Cell {
  return seen ? "yes" : "no";
}

/** Waits until something is so; answers whether it came to be. */
async function until(isSo: () => boolean, ms = 2500): Promise<boolean> {
  const end = performance.now() + ms;
  while (!isSo() && performance.now() < end) await pause(25);
  return isSo();
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
