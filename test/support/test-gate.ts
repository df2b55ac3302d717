/** Gates and raw connections to them, which the end of the test closes. */
import { connect, type Socket } from "node:net";

import { onTestFinished } from "vitest";

import type { Gate, GateOptions, Route } from "../../src/gate/gate.ts";
import { openGate } from "../../src/gate/open-gate.ts";

/** A token that is made up. */
export const madeUpToken = ["a", "made", "up", "token", "0123456789"].join("-");

/** Answers with the body that it got. */
export const echoRoute: Route = {
  path: "/echo",
  async handle(request) {
    request.response.end(await request.readBody());
  },
};

/** Opens a gate that has {@link echoRoute}, unless told otherwise. */
export async function openTestGate(options: Partial<GateOptions> = {}): Promise<Gate> {
  const gate = await openGate({ routes: [echoRoute], ...options });
  onTestFinished(async () => gate.close({ graceMs: 0 }));
  return gate;
}

/** Connects to a gate as nobody's HTTP client would. */
export function dial(gate: Gate): Socket {
  const socket = connect({ port: Number(new URL(gate.url).port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Reads all that comes until the gate closes the connection, also if it does so while the client still sends. */
export async function readAll(socket: Socket): Promise<string> {
  let bytes = "";
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.toString("latin1");
  });
  await closed(socket);
  return bytes;
}

/** Sends bytes as they are, and reads all that comes back until the gate closes the connection. */
export async function send(gate: Gate, bytes: string | Uint8Array): Promise<string> {
  const socket = dial(gate);
  socket.write(bytes);
  return readAll(socket);
}

/** The status of the first answer in `bytes`. */
export function readStatus(bytes: string): number {
  return Number(/^HTTP\/1\.1 (\d+) /u.exec(bytes)?.[1]);
}

/** Waits until the gate has closed a connection. */
export async function closed(socket: Socket): Promise<void> {
  socket.resume();
  if (socket.closed || socket.readableEnded) return;
  await new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) {
      socket.once(event, () => {
        resolve();
      });
    }
  });
}

/** Waits until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
