import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import {
  closed,
  dial,
  echoRoute,
  madeUpToken,
  openTestGate,
  readAll,
  readStatus,
  send,
  until,
} from "../../../test/support/test-gate.ts";
import type { Gate, GateEvent, GateToken, Route } from "../gate.ts";

const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";

test("maxBodyBytes refuses a body that says it is larger before any of it is read", async () => {
  const gate = await openTestGate({ limits: { maxBodyBytes: 1000 } });

  const answer = await send(gate, `${head}Content-Length: 1001\r\n\r\n`);

  expect(readStatus(answer)).toBe(413);
  expect(answer).toContain("the body is larger than 1000 bytes; send less");
});

test("maxBodyBytes lets a body through that is just as large", async () => {
  const gate = await openTestGate({ limits: { maxBodyBytes: 1000 } });

  const response = await fetch(`${gate.url}/echo`, { method: "POST", body: "x".repeat(1000) });

  expect(response.status).toBe(200);
});

test("maxBodyBytes cuts a client that sends chunks without end, and it can read why", async () => {
  const gate = await openTestGate({ limits: { maxBodyBytes: 100_000 } });
  const socket = dial(gate);
  const answer = readAll(socket);
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  let sentBytes = 0;

  const flood = setInterval(() => {
    if (socket.writable && !socket.writableNeedDrain)
      sentBytes += socket.write(`2710\r\n${"x".repeat(10_000)}\r\n`) ? 10_000 : 0;
  }, 1);
  await closed(socket);
  clearInterval(flood);

  expect(readStatus(await answer)).toBe(413);
  expect(sentBytes).toBeGreaterThan(100_000);
});

test("maxBodyBytes holds for a client that sends all of a huge body before it reads", async () => {
  const gate = await openTestGate({ limits: { maxBodyBytes: 1000 } });

  const response = await fetch(`${gate.url}/echo`, { method: "POST", body: "x".repeat(5_000_000) });

  expect(response.status).toBe(413);
});

test("address refuses what comes faster, and says when to come again", async () => {
  const gate = await openTestGate({ limits: { address: { perSecond: 1, burst: 3 } } });

  const responses = [];
  for (let index = 0; index < 5; index += 1) responses.push(await fetch(`${gate.url}/echo`));

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(responses[4]?.headers.get("retry-after")).toBe("1");
});

test("address lets a client go on after the pause", async () => {
  const gate = await openTestGate({ limits: { address: { perSecond: 10, burst: 1 } } });
  await fetch(`${gate.url}/echo`);

  await sleep(150);
  const response = await fetch(`${gate.url}/echo`);

  expect(response.status).toBe(200);
});

test("caller counts each token by itself", async () => {
  const other = `${madeUpToken}-other`;
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }, { token: other }],
    limits: { caller: { perSecond: 0.1, burst: 2 } },
  });
  const ask = async (token: string): Promise<number> =>
    (await fetch(`${gate.url}/echo`, { headers: { authorization: `Bearer ${token}` } })).status;

  const statuses = [];
  for (const token of [madeUpToken, madeUpToken, madeUpToken, other]) statuses.push(await ask(token));

  expect(statuses).toEqual([200, 200, 429, 200]);
});

test("headMs cuts clients that never finish their head, and answers why", async () => {
  const gate = await openTestGate({ limits: { headMs: 300 } });
  const socket = dial(gate);
  const answer = readAll(socket);
  socket.write("GET /echo HTTP/1.1\r\nHost: localhost\r\n");

  const drip = setInterval(() => {
    if (socket.writable) socket.write("X-Drip: 1\r\n");
  }, 50);
  await closed(socket);
  clearInterval(drip);

  expect(readStatus(await answer)).toBe(408);
});

test("headMs cuts clients that never say anything", async () => {
  const gate = await openTestGate({ limits: { headMs: 300 } });
  const socket = dial(gate);
  await once(socket, "connect");

  const before = performance.now();
  await closed(socket);

  expect(performance.now() - before).toBeLessThan(30_000);
});

test("minBytesPerSecond cuts clients whose body drips", async () => {
  const gate = await openTestGate({ limits: { minBytesPerSecond: 1000, slowAfterMs: 200 } });
  const socket = dial(gate);
  const answer = readAll(socket);
  socket.write(`${head}Content-Length: 1000\r\n\r\n`);

  const drip = setInterval(() => {
    if (socket.writable) socket.write("x");
  }, 50);
  await closed(socket);
  clearInterval(drip);

  expect(readStatus(await answer)).toBe(408);
});

test("minBytesPerSecond lets a long body through that is fast enough", async () => {
  const gate = await openTestGate({ limits: { minBytesPerSecond: 100, slowAfterMs: 100 } });
  const socket = dial(gate);
  const answer = readAll(socket);
  socket.write(`${head}Content-Length: 2000\r\nConnection: close\r\n\r\n`);

  for (let index = 0; index < 20; index += 1) {
    await sleep(75);
    socket.write("x".repeat(100));
  }

  expect(readStatus(await answer)).toBe(200);
});

test("stalledMs cuts a client that takes nothing of a large answer", async () => {
  const events: GateEvent[] = [];
  const gate = await openTestGate({
    limits: { stalledMs: 500 },
    report: (event) => events.push(event),
    routes: [{ path: "/large", handle: ({ response }) => void response.end(Buffer.alloc(50_000_000)) }],
  });
  const socket = dial(gate);
  socket.pause();
  socket.write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");

  await until(() => events.length > 0);

  expect(events).toEqual([{ type: "client-cut", reason: "it took nothing of its answer", address: "127.0.0.1" }]);
  await until(() => gate.running === 0);
});

test("stalledMs lets a stream be silent", async () => {
  const gate = await openTestGate({
    limits: { stalledMs: 200 },
    routes: [
      {
        path: "/stream",
        async handle({ response }) {
          response.writeHead(200).write("first");
          await sleep(1500);
          response.end("last");
        },
      },
    ],
  });

  const response = await fetch(`${gate.url}/stream`);

  expect(await response.text()).toBe("firstlast");
});

test("1,000 half-open connections do not keep others out", async () => {
  const gate = await openTestGate();
  const sockets = Array.from({ length: 1000 }, () => dial(gate));
  await Promise.all(sockets.map(async (socket) => once(socket, "connect")));
  for (const socket of sockets.slice(0, 500)) socket.write("POST /echo HTTP/1.1\r\nHost: local");

  const answers = await Promise.all(Array.from({ length: 20 }, async (_, index) => askBody(gate, String(index))));

  expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  expect(sockets.filter(({ closed: isClosed }) => isClosed)).toEqual([]);
});

test("maxConnections cuts the oldest that nobody was let in by, and keeps the others", async () => {
  const gate = await openTestGate({ limits: { maxConnections: 50 } });
  const regular = dial(gate);
  await use(regular);
  const silent: Socket[] = [];
  for (let index = 0; index < 200; index += 1) {
    const socket = dial(gate);
    silent.push(socket);
    await once(socket, "connect");
  }

  const answer = await askBody(gate, "still here");
  await until(() => silent.filter((socket) => socket.resume().readableEnded).length >= 150);

  expect(answer).toBe("still here");
  await use(regular);
  expect(silent.slice(0, 100).every(({ readableEnded }) => readableEnded)).toBe(true);
});

test("maxConnections refuses new ones when everybody there was let in and waits for an answer", async () => {
  const events: GateEvent[] = [];
  const gate = await openTestGate({
    limits: { maxConnections: 2 },
    report: (event) => events.push(event),
    routes: [slow],
  });
  const regulars = [dial(gate), dial(gate)];
  for (const socket of regulars) await begin(socket);

  const late = dial(gate);
  await closed(late);

  expect(events).toMatchObject([{ type: "client-cut", reason: "there are 2 connections already" }]);
  expect(regulars.map(({ closed: isClosed }) => isClosed)).toEqual([false, false]);
});

test("maxConnections takes the connection that was not in use for longest from the caller that holds the most", async () => {
  const events: GateEvent[] = [];
  const gate = await openTestGate({
    limits: { maxConnections: 4 },
    tokens: toTokens(["ann", "bob"]),
    report: (event) => events.push(event),
  });
  const [bob, ...anns] = [dial(gate), dial(gate), dial(gate), dial(gate)];
  await use(bob, "bob");
  for (const socket of anns) await use(socket, "ann");
  await use(anns[0], "ann");

  const late = dial(gate);
  await use(late, "bob");
  await closed(anns[1]);

  for (const [socket, name] of [
    [bob, "bob"],
    [anns[0], "ann"],
    [anns[2], "ann"],
  ] as const)
    await use(socket, name);
  expect(events).toMatchObject([{ type: "client-cut", reason: "there are 4 connections already" }]);
});

test("maxConnectionsPerCaller makes room among the caller's own connections, and refuses when all are in use", async () => {
  const gate = await openTestGate({
    limits: { maxConnectionsPerCaller: 2 },
    tokens: toTokens(["ann", "bob"]),
    routes: [echoRoute, slow],
  });
  const [unused, busy, third, fourth] = [dial(gate), dial(gate), dial(gate), dial(gate)];
  await use(unused, "ann");
  await begin(busy, "ann");

  await begin(third, "ann");
  await closed(unused);
  const refused = await begin(fourth, "ann");
  const bob = dial(gate);
  await use(bob, "bob");

  expect(readStatus(refused)).toBe(429);
  expect([busy?.closed, third?.closed]).toEqual([false, false]);
});

test("maxConnectionsPerCaller lets nobody in beyond it, however often a refused caller comes again", async () => {
  const gate = await openTestGate({
    limits: { maxConnectionsPerCaller: 2 },
    tokens: toTokens(["ann"]),
    routes: [slow],
  });
  const statuses: number[] = [];

  for (let attempt = 0; attempt < 10; attempt += 1) {
    statuses.push(readStatus(await begin(dial(gate), "ann")));
    // By now the answer to the refused request is written, and its connection is not in use.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  expect(statuses).toEqual([200, 200, 429, 429, 429, 429, 429, 429, 429, 429]);
});

test("maxConnectionsPerCaller leaves the places that others need, whoever drips refused requests", async () => {
  const gate = await openTestGate({
    limits: { maxConnections: 6, maxConnectionsPerCaller: 2 },
    tokens: toTokens(["ann", "bob"]),
    routes: [echoRoute, slow],
  });
  for (let index = 0; index < 2; index += 1) await begin(dial(gate), "ann");
  for (let index = 0; index < 10; index += 1) await exchange(dial(gate), toHead("/slow", "ann").slice(0, -1));

  const bob = dial(gate);
  await use(bob, "bob");

  expect(bob.closed).toBe(false);
});

test("a client with a wrong token holds no place", async () => {
  const gate = await openTestGate({ limits: { maxConnections: 1 }, tokens: [{ token: madeUpToken }] });
  const stranger = dial(gate);
  stranger.write("GET /echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n");
  await once(stranger, "connect");

  const response = await fetch(`${gate.url}/echo`, { headers: { authorization: `Bearer ${madeUpToken}` } });

  expect(response.status).toBe(200);
});

test("limits that are off hold nobody up", async () => {
  const gate = await openTestGate({ limits: { address: "off", caller: "off", guesses: "off" }, routes: [echoRoute] });

  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await fetch(`${gate.url}/echo`)).status));

  expect(new Set(statuses)).toEqual(new Set([200]));
});

async function askBody(gate: Gate, body: string): Promise<string> {
  const response = await fetch(`${gate.url}/echo`, { method: "POST", body });
  return response.text();
}

/** Begins an answer, and never ends it. */
const slow: Route = { path: "/slow", handle: ({ response }) => void response.writeHead(200).write("begun") };

function toTokens(ids: readonly string[]): GateToken[] {
  return ids.map((id) => ({ token: `${madeUpToken}-${id}`, id }));
}

function toHead(path: string, id: string | undefined): string {
  const token = id === undefined ? "" : `Authorization: Bearer ${madeUpToken}-${id}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${token}Content-Length: 2\r\n\r\nhi`;
}

/** Makes a request by a connection that stays open. */
async function use(socket: Socket | undefined, id?: string): Promise<void> {
  expect(readStatus(await exchange(socket, toHead("/echo", id)))).toBe(200);
}

/** Makes a request whose answer does not end. */
async function begin(socket: Socket | undefined, id?: string): Promise<string> {
  return exchange(socket, toHead("/slow", id));
}

async function exchange(socket: Socket | undefined, request: string): Promise<string> {
  const data = once(socket as Socket, "data");
  socket?.write(request);
  const [answer] = await data;
  return String(answer);
}
