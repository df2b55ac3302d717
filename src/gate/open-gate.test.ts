import { expect, test } from "vitest";

import { dial, echoRoute, madeUpToken, openTestGate, readAll, until } from "../../test/support/test-gate.ts";
import type { GateEvent, GateOptions, Route } from "./gate.ts";
import { openGate } from "./open-gate.ts";

test("openGate() gives a route the caller, the path, the query and the body", async () => {
  const seen: unknown[] = [];
  const gate = await openTestGate({
    routes: [
      {
        path: "/mcp",
        handle({ caller, path, query, response }) {
          seen.push(caller, path, query);
          response.end("done");
        },
      },
    ],
  });

  const response = await fetch(`${gate.url}/mcp?a=1&b`, { method: "POST", body: "hello" });

  expect(await response.text()).toBe("done");
  expect(seen).toEqual([{ id: "local", scopes: "all" }, "/mcp", "a=1&b"]);
});

test("readBody() gives the whole body, as often as it is asked for", async () => {
  const big = "x".repeat(300_000);
  const gate = await openTestGate({
    routes: [
      {
        path: "/twice",
        async handle(request) {
          const [first, second] = await Promise.all([request.readBody(), request.readBody()]);
          request.response.end(String(first.length + second.length));
        },
      },
    ],
  });

  const response = await fetch(`${gate.url}/twice`, { method: "POST", body: big });

  expect(await response.text()).toBe("600000");
});

test("readBody() gives an empty body for a request without one", async () => {
  const gate = await openTestGate();

  const response = await fetch(`${gate.url}/echo`);

  expect(await response.text()).toBe("");
});

test.for(["0.0.0.0", "::", "", "192.0.2.1", "example.com", "127.0.0.1.evil.com", "2130706433"])(
  "openGate() on %j needs a token",
  async (host) => {
    const opening = openGate({ host, routes: [echoRoute] });

    await expect(opening).rejects.toMatchObject({ code: "gate-unprotected", details: { host } });
  },
);

test("openGate() says what to do about a listener without protection", async () => {
  const opening = openGate({ host: "0.0.0.0", routes: [echoRoute] });

  await expect(opening).rejects.toThrow(
    'Cannot listen on "0.0.0.0": every program that can reach this address could call the tools; ask for a token (kitbag token add <name>, --token, KITBAG_TOKEN) or OAuth, or listen on 127.0.0.1',
  );
});

test("openGate() listens everywhere with a token, and tells an address that can be used", async () => {
  const gate = await openTestGate({ host: "0.0.0.0", tokens: [{ token: madeUpToken }] });

  const response = await fetch(`${gate.url}/echo`, { headers: { authorization: `Bearer ${madeUpToken}` } });

  expect(response.status).toBe(200);
});

test("openGate() listens on IPv6 loopback", async () => {
  const gate = await openTestGate({ host: "::1" });

  const response = await fetch(`${gate.url}/healthz`);

  expect(gate.url).toMatch(/^http:\/\/\[::1\]:\d+$/u);
  expect(await response.json()).toEqual({ status: "ok" });
});

test("openGate() says that a port is taken", async () => {
  const { url } = await openTestGate();

  const opening = openGate({ port: Number(new URL(url).port), routes: [echoRoute] });

  await expect(opening).rejects.toMatchObject({
    code: "listen-failed",
    details: { reason: "another program listens there; stop it, or take another port" },
  });
});

test.for<[string, Partial<GateOptions>]>([
  ["port", { port: 65_536 }],
  ["port", { port: 1.5 }],
  ["tokens[0]", { tokens: [{ token: "short" }] }],
  ["tokens[0]", { tokens: [{ token: "a token with spaces in it" }] }],
  ["tokens[0]", { tokens: [{ token: "zeile\r\nX-Header: 1234567" }] }],
  ["tokens", { tokens: [{ token: "the-same-one-twice" }, { token: "the-same-one-twice" }] }],
  ["oauth.issuer", { oauth: { issuer: "http://idp.example.com" } }],
  ["oauth.issuer", { oauth: { issuer: "idp" } }],
  ["oauth.jwksUrl", { oauth: { issuer: "https://idp.example.com", jwksUrl: "http://idp.example.com/keys" } }],
  ["oauth.resource", { oauth: { issuer: "https://idp.example.com", resource: "/mcp" } }],
  ["origins", { origins: ["app.example.com"] }],
  ["origins", { origins: ["https://app.example.com/path"] }],
  ["origins", { origins: ["*"] }],
  ["routes", { routes: [{ ...echoRoute, path: "mcp" }] }],
  ["limits.maxBodyBytes", { limits: { maxBodyBytes: 0 } }],
  ["limits.maxBodyBytes", { limits: { maxBodyBytes: Number.NaN } }],
  ["limits.caller", { limits: { caller: { perSecond: 0, burst: 1 } } }],
])("openGate() refuses a wrong %s (%#)", async ([option, wrong]) => {
  const opening = openGate({ routes: [echoRoute], ...wrong });

  await expect(opening).rejects.toMatchObject({ code: "option-invalid", details: { option } });
});

test("openGate() never shows a token that it refuses", async () => {
  const error: unknown = await openGate({ routes: [echoRoute], tokens: [{ token: "hunter2" }] }).catch(
    (cause: unknown) => cause,
  );

  expect(String(error)).not.toContain("hunter2");
  expect(JSON.stringify(error)).not.toContain("hunter2");
});

test("a route that throws is answered with 500, and only the report hears why", async () => {
  const events: GateEvent[] = [];
  const gate = await openTestGate({
    report: (event) => events.push(event),
    routes: [
      {
        path: "/fails",
        handle() {
          throw new Error("the password is 1234");
        },
      },
      {
        path: "/rejects",
        async handle() {
          await Promise.reject(new Error("the password is 1234"));
        },
      },
    ],
  });

  const answers = await Promise.all(
    ["/fails", "/rejects"].map(async (path) => {
      const response = await fetch(gate.url + path);
      return [response.status, await response.text()];
    }),
  );

  expect(answers).toEqual([
    [500, '{"error":{"status":500,"message":"the service failed; its log says more"}}'],
    [500, '{"error":{"status":500,"message":"the service failed; its log says more"}}'],
  ]);
  expect(events.map(({ type }) => type)).toEqual(["request-crashed", "request-crashed"]);
});

test("a route that throws in the middle of its answer is cut", async () => {
  const gate = await openTestGate({
    routes: [
      {
        path: "/half",
        async handle({ response }) {
          response.writeHead(200).write("half");
          await new Promise((resolve) => setTimeout(resolve, 20));
          throw new Error("broken");
        },
      },
    ],
  });

  const response = await fetch(`${gate.url}/half`);

  await expect(response.text()).rejects.toThrow();
});

test("renderRefusal() of a route writes what the gate answers for it", async () => {
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    routes: [{ ...echoRoute, renderRefusal: ({ status, message }) => JSON.stringify({ status, message, id: null }) }],
  });

  const response = await fetch(`${gate.url}/echo`);

  expect(await response.json()).toEqual({
    status: 401,
    message: 'a token is needed; send it as "Authorization: Bearer <token>"',
    id: null,
  });
});

test("signal is aborted when the client goes away", async () => {
  const aborted = Promise.withResolvers<unknown>();
  const gate = await openTestGate({
    routes: [
      {
        path: "/slow",
        handle({ signal }) {
          signal.addEventListener("abort", () => {
            aborted.resolve(signal.reason);
          });
        },
      },
    ],
  });
  const leaving = new AbortController();
  const request = fetch(`${gate.url}/slow`, { signal: leaving.signal }).catch(() => "left");
  await until(() => gate.running === 1);

  leaving.abort();

  expect(await request).toBe("left");
  expect(await aborted.promise).toMatchObject({ code: "request-refused", details: { status: 499 } });
});

test("signal is aborted at once if it is first asked for when the client is gone", async () => {
  const seen = Promise.withResolvers<boolean>();
  const gate = await openTestGate({
    routes: [
      {
        path: "/slow",
        async handle(request) {
          await until(() => request.response.closed);
          seen.resolve(request.signal.aborted);
        },
      },
    ],
  });
  const socket = dial(gate);
  socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until(() => gate.running === 1);

  socket.destroy();

  expect(await seen.promise).toBe(true);
});

test("signal is not aborted by an answer that was sent", async () => {
  const signals: AbortSignal[] = [];
  const gate = await openTestGate({
    routes: [
      {
        path: "/fast",
        handle({ signal, response }) {
          signals.push(signal);
          response.end();
        },
      },
    ],
  });

  await fetch(`${gate.url}/fast`);
  await until(() => gate.running === 0);

  expect(signals[0]?.aborted).toBe(false);
});

test("readBody() rejects when the client goes away in the middle", async () => {
  const failure = Promise.withResolvers<unknown>();
  const gate = await openTestGate({
    routes: [
      {
        path: "/take",
        async handle(request) {
          await request.readBody().catch((cause: unknown) => {
            failure.resolve(cause);
          });
        },
      },
    ],
  });
  const socket = dial(gate);
  socket.write("POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
  await until(() => gate.running === 1);

  socket.destroy();

  expect(await failure.promise).toMatchObject({ code: "request-refused", details: { status: 499 } });
});

test("readBody() rejects when the client was gone before it is called", async () => {
  const failure = Promise.withResolvers<unknown>();
  const gate = await openTestGate({
    routes: [
      {
        path: "/take",
        async handle(request) {
          await until(() => request.response.closed);
          await request.readBody().catch((cause: unknown) => {
            failure.resolve(cause);
          });
        },
      },
    ],
  });
  const socket = dial(gate);
  socket.write("POST /take HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
  await until(() => gate.running === 1);

  socket.destroy();

  expect(await failure.promise).toMatchObject({ code: "request-refused", details: { status: 499 } });
});

test("a route below a path answers all that lies there, and an exact one comes first", async () => {
  const name = (path: string): Route => ({ path, handle: ({ response }) => void response.end(path) });
  const gate = await openTestGate({ routes: [name("/api/*"), name("/api/v2/*"), name("/api/v2/me"), name("/*")] });

  const answers = await Promise.all(
    ["/api/x", "/api/v2/x", "/api/v2/me", "/api", "/"].map(async (path) => (await fetch(gate.url + path)).text()),
  );

  expect(answers).toEqual(["/api/*", "/api/v2/*", "/api/v2/me", "/*", "/*"]);
});

test("a client that waits for 100-continue is told to go on by readBody(), and only then", async () => {
  const gate = await openTestGate({ limits: { maxBodyBytes: 10 } });
  const head =
    "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: ";
  const small = dial(gate);
  const large = dial(gate);

  small.write(`${head}5\r\n\r\n`);
  small.once("data", () => small.write("hello"));
  large.write(`${head}50\r\n\r\n`);

  expect(await readAll(small)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[^]*hello/u);
  expect(await readAll(large)).toMatch(/^HTTP\/1\.1 413 /u);
});
