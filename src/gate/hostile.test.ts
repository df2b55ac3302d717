import { expect, test } from "vitest";

import { dial, madeUpToken, openTestGate, readStatus, send, until } from "../../test/support/test-gate.ts";
import type { GateEvent } from "./gate.ts";

const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";

test.for([
  ["no request", "hello\r\n\r\n", 400],
  ["an unknown method", "HACK /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
  ["a version that nobody speaks", "GET /echo HTTP/9.9\r\nHost: localhost\r\n\r\n", 400],
  ["a bare line feed in a header", "GET /echo HTTP/1.1\r\nHost: localhost\nX: y\r\r\n\r\n", 400],
  ["a space before the colon", "GET /echo HTTP/1.1\r\nHost : localhost\r\n\r\n", 400],
  ["a zero byte in a header", "GET /echo HTTP/1.1\r\nHost: localhost\r\nX: a\u0000b\r\n\r\n", 400],
  ["two lengths", `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`, 400],
  ["two equal lengths", `${head}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, 400],
  ["a length and chunks", `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ["a length below zero", `${head}Content-Length: -1\r\n\r\n`, 400],
  ["a length that is no number", `${head}Content-Length: 0x10\r\n\r\n`, 400],
  ["an encoding that is not known", `${head}Transfer-Encoding: chunked, gzip\r\n\r\n`, 400],
  ["chunks with a broken size", `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
  ["a head without end", `GET /echo HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(20_000)}`, 431],
  ["an address without end", `GET /${"a".repeat(20_000)} HTTP/1.1\r\n`, 431],
  ["no Host", "GET /echo HTTP/1.1\r\n\r\n", 400],
  ["no Host in HTTP 1.0", "GET /echo HTTP/1.0\r\n\r\n", 400],
  ["two Hosts", "GET /echo HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n", 400],
  ["two Hosts, spelt differently", "GET /echo HTTP/1.1\r\nHOST: localhost\r\nhost: localhost\r\n\r\n", 400],
  ["two tokens", `${head}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`, 400],
  ["an absolute address", "GET http://evil.com/echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
  ["an absolute address of ours", "GET http://localhost/echo HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
  ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400],
] as const)("a gate answers %s with a refusal and closes the connection", async ([, bytes, status]) => {
  const gate = await openTestGate();

  const answer = await send(gate, bytes);

  expect(readStatus(answer)).toBe(status);
});

test.for([
  "evil.com",
  "evil.com:80",
  "localhost.evil.com",
  "127.0.0.1.evil.com",
  "evil.com#localhost",
  "localhost@evil.com",
  "user:localhost@evil.com",
  "localhost:80:80",
  "localhost:",
  "localhost:99999999",
  "local host",
  "[::1",
  "[::1].evil.com",
  "127.1",
  "2130706433",
  "192.168.0.1",
  "0.0.0.0",
  "",
  "__proto__",
  "LOCALHOST.",
])("a gate on loopback refuses the Host %j", async (host) => {
  const gate = await openTestGate();

  const answer = await send(gate, `GET /echo HTTP/1.1\r\nHost: ${host}\r\n\r\n`);

  expect(readStatus(answer)).toBe(403);
});

test.for(["localhost", "LocalHost:1234", "127.0.0.1", "127.0.0.1:80", "[::1]:65535"])(
  "a gate on loopback answers to %j",
  async (host) => {
    const gate = await openTestGate();

    const answer = await send(gate, `GET /echo HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

    expect(readStatus(answer)).toBe(200);
  },
);

test("a gate answers to the names that it is given, also beside loopback", async () => {
  const gate = await openTestGate({ hosts: ["Tools.Example.com"] });

  const statuses = await Promise.all(
    ["tools.example.com", "TOOLS.example.com:8443", "localhost", "example.com"].map(async (host) =>
      readStatus(await send(gate, `GET /echo HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
    ),
  );

  expect(statuses).toEqual([200, 200, 200, 403]);
});

test("a gate that listens everywhere answers to numbers, and to no name that it was not given", async () => {
  const gate = await openTestGate({ host: "0.0.0.0", tokens: [{ token: madeUpToken }] });

  const statuses = await Promise.all(
    ["192.0.2.7:80", "[2001:db8::1]", "evil.com", "127.1"].map(async (host) =>
      readStatus(
        await send(
          gate,
          `GET /echo HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${madeUpToken}\r\nConnection: close\r\n\r\n`,
        ),
      ),
    ),
  );

  expect(statuses).toEqual([200, 200, 403, 403]);
});

test.for([
  "http://evil.com",
  "null",
  "http://localhost:1",
  "http://127.0.0.1",
  "https://evil.com#localhost",
  "file://",
  "http://localhost, http://evil.com",
  "",
])("a gate refuses a POST of the page %j", async (origin) => {
  const gate = await openTestGate();

  const answer = await send(
    gate,
    `POST /echo HTTP/1.1\r\nHost: localhost:9\r\nOrigin: ${origin}\r\nContent-Length: 0\r\n\r\n`,
  );

  expect(readStatus(answer)).toBe(403);
  expect(answer).not.toMatch(/access-control-allow-origin/iu);
});

test("a gate answers pages of its own", async () => {
  const gate = await openTestGate();

  const response = await fetch(`${gate.url}/echo`, { method: "POST", body: "hi", headers: { origin: gate.url } });

  expect(await response.text()).toBe("hi");
});

test("a gate answers pages that are allowed, and their browser's question before", async () => {
  const gate = await openTestGate({ origins: ["https://app.example.com"] });
  const headers = { origin: "https://app.example.com" };

  const preflight = await fetch(`${gate.url}/echo`, {
    method: "OPTIONS",
    headers: { ...headers, "access-control-request-method": "POST", "access-control-request-headers": "mcp-method" },
  });
  const response = await fetch(`${gate.url}/echo`, { method: "POST", body: "hi", headers });

  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toBe("mcp-method");
  expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
  expect(await response.text()).toBe("hi");
});

test("a gate answers the browser's question of a page that is not allowed with a refusal", async () => {
  const gate = await openTestGate({ origins: ["https://app.example.com"] });

  const preflight = await fetch(`${gate.url}/echo`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.com", "access-control-request-method": "POST" },
  });

  expect(preflight.status).toBe(403);
});

test.for(["/Echo", "/echo/", "//echo", "/%65cho", "/echo/../echo", "/__proto__", "/.well-known/x", "/healthz/"])(
  "a gate finds nothing at %j",
  async (path) => {
    const gate = await openTestGate();

    const answer = await send(gate, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);

    expect(readStatus(answer)).toBe(404);
  },
);

test("a gate that refused bytes answers the next client", async () => {
  const gate = await openTestGate();
  await Promise.all(Array.from({ length: 50 }, async (_, index) => send(gate, `\u0000${index}\r\n\r\n`)));

  const response = await fetch(`${gate.url}/echo`, { method: "POST", body: "hi" });

  expect(await response.text()).toBe("hi");
});

test("a request behind another in one packet is answered after it", async () => {
  const gate = await openTestGate();

  const answer = await send(
    gate,
    `${head}Content-Length: 3\r\n\r\none${head}Content-Length: 3\r\nConnection: close\r\n\r\ntwo`,
  );

  expect(answer.match(/one|two/gu)).toEqual(["one", "two"]);
});

test("requests that wait behind a running one are forgotten with their client", async () => {
  const signals: AbortSignal[] = [];
  const gate = await openTestGate({ routes: [{ path: "/never", handle: ({ signal }) => void signals.push(signal) }] });
  const socket = dial(gate);
  socket.write("GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5));
  await until(() => gate.running === 5);

  socket.destroy();

  await until(() => gate.running === 0);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true, true]);
});

test("a request smuggled behind a refused one is not answered", async () => {
  const gate = await openTestGate();

  const answer = await send(
    gate,
    "GET /echo HTTP/1.1\r\nHost: evil.com\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
  );

  expect(answer.match(/HTTP\/1\.1 \d+/gu)).toEqual(["HTTP/1.1 403"]);
});

test("a client that waits for 100-continue and is refused cannot go on by the same connection", async () => {
  const gate = await openTestGate();
  const waiting = "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n";

  const answer = await send(gate, `${waiting}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);

  expect(answer.match(/HTTP\/1\.1 \d+/gu)).toEqual(["HTTP/1.1 404"]);
});

test("/healthz cannot be read by the page of another host", async () => {
  const gate = await openTestGate();

  const response = await fetch(`${gate.url}/healthz`, { headers: { origin: "https://evil.com" } });

  expect(response.headers.get("access-control-allow-origin")).toBeNull();
});

test("a client that closes its side after the request still gets its answer", async () => {
  const gate = await openTestGate();
  const socket = dial(gate);

  socket.end(`${head}Content-Length: 2\r\n\r\nhi`);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  await until(() => answer.endsWith("hi"));

  expect(readStatus(answer)).toBe(200);
});

test("the report of a refusal holds neither the query nor a token", async () => {
  const events: GateEvent[] = [];
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }], report: (event) => events.push(event) });

  await fetch(`${gate.url}/echo?key=hunter2`, { headers: { authorization: "Bearer hunter2-hunter2-hunter2" } });

  const requestId = expect.stringMatching(/^[\da-f-]{36}$/u) as string;
  const told = { status: 401, reason: "the token is not right", address: "127.0.0.1", path: "/echo", requestId };
  expect(events).toEqual([{ type: "request-refused", ...told }]);
});
