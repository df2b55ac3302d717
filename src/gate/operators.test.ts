import { request } from "node:http";

import { expect, test } from "vitest";

import { dial, echoRoute, madeUpToken, openTestGate, until } from "../../test/support/test-gate.ts";
import type { GateEvent, RequestEnd } from "./gate.ts";

test("/readyz says no with the reason while the service cannot work, and yes when it can again; /healthz lives on", async () => {
  let problem: string | undefined = "the store cannot be reached";
  let looks = 0;
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    findProblem: () => {
      looks += 1;
      return Promise.resolve(problem);
    },
  });

  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${gate.url}/readyz`)));
  const health = await fetch(`${gate.url}/healthz`);
  problem = undefined;
  await expect.poll(async () => (await fetch(`${gate.url}/readyz`)).status, { timeout: 10_000 }).toBe(200);

  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(await answers[0]?.json()).toEqual({ status: "unavailable", reason: "the store cannot be reached" });
  expect(health.status).toBe(200);
  expect(looks).toBeLessThanOrEqual(2);
});

test("/readyz of a service that needs nothing says yes, and of one that is not there yet says no", async () => {
  const [ready, waiting] = await Promise.all([openTestGate(), openTestGate({ unavailable: "a person must agree" })]);

  const answers = await Promise.all([ready, waiting].map(async ({ url }) => fetch(`${url}/readyz`)));
  const headless = await fetch(`${waiting.url}/readyz`, { method: "HEAD" });

  expect(answers.map(({ status }) => status)).toEqual([200, 503]);
  expect(await answers[1]?.json()).toEqual({ status: "unavailable", reason: "a person must agree" });
  expect([headless.status, await headless.text()]).toEqual([503, ""]);
});

test("/readyz tells nobody the text of a failure", async () => {
  const gate = await openTestGate({ findProblem: () => Promise.reject(new Error("postgres://kit:hunter2@db/home")) });

  const answer = await fetch(`${gate.url}/readyz`);

  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({
    status: "unavailable",
    reason: "what this service keeps its data in does not answer",
  });
});

test("/readyz says no when looking takes for ever", async () => {
  const gate = await openTestGate({ findProblem: () => new Promise(() => {}) });

  const answer = await fetch(`${gate.url}/readyz`);

  expect(answer.status).toBe(503);
});

test("the gate keeps a sane x-request-id, makes one otherwise, and answers with it", async () => {
  const events: RequestEnd[] = [];
  const gate = await openTestGate({ onRequestEnd: (end) => events.push(end) });
  const ask = async (id?: string): Promise<string | null> => {
    const headers = id === undefined ? {} : { "x-request-id": id };
    return (await fetch(`${gate.url}/echo`, { headers })).headers.get("x-request-id");
  };

  const kept = await ask("edge-7f.3:a@b");
  const made = await Promise.all([undefined, "two words", "x".repeat(129), "<script>", ""].map(ask));

  expect(kept).toBe("edge-7f.3:a@b");
  expect(new Set(made).size).toBe(made.length);
  for (const id of made) expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/u);
  await until(() => events.length === 6);
  expect(new Set(events.map(({ requestId }) => requestId))).toEqual(new Set([kept, ...made]));
});

test("the gate tells of each request once, with the path of its route, its status and its caller", async () => {
  const ended: RequestEnd[] = [];
  const refused: GateEvent[] = [];
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken, id: "ann" }],
    routes: [
      echoRoute,
      {
        path: "/items/*",
        describePath: (_, path) => path.replace(/\d+/u, "{id}"),
        handle: ({ response }) => void response.end(),
      },
      { path: "/slow", handle: () => {} },
    ],
    report: (event) => refused.push(event),
    onRequestEnd: (end) => ended.push(end),
  });
  const headers = { authorization: `Bearer ${madeUpToken}` };

  await fetch(`${gate.url}/items/42?key=secret`, { headers });
  await fetch(`${gate.url}/echo`, { method: "POST", body: "x" });
  await fetch(`${gate.url}/home/ann/elsewhere`, { headers });
  await fetch(`${gate.url}/healthz`);
  const leaving = request(`${gate.url}/slow`, { headers }).on("error", () => {});
  leaving.end();
  await until(() => gate.running === 1);
  leaving.destroy();
  await until(() => ended.length === 5);

  expect(ended.map(({ method, path, status, caller }) => [method, path, status, caller])).toEqual([
    ["GET", "/items/{id}", 200, "ann"],
    ["POST", "/echo", 401, undefined],
    ["GET", "(none)", 404, undefined],
    ["GET", "/healthz", 200, undefined],
    ["GET", "/slow", 499, "ann"],
  ]);
  expect(ended.every(({ durationMs }) => durationMs >= 0)).toBe(true);
  expect(refused).toMatchObject([{ requestId: ended[1]?.requestId }, { requestId: ended[2]?.requestId }]);
  expect(JSON.stringify(ended)).not.toContain("secret");
});

test("bytes that are no request are not told of as one", async () => {
  const ended: RequestEnd[] = [];
  const gate = await openTestGate({ onRequestEnd: (end) => ended.push(end) });

  const socket = dial(gate);
  socket.end("nonsense\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve).resume());

  expect(ended).toEqual([]);
});

test("a page of an allowed origin may send and read what the service speaks, below every path", async () => {
  const origin = "https://app.example.com";
  const gate = await openTestGate({
    origins: [origin],
    tokens: [{ token: madeUpToken }],
    routes: [{ path: "/api/*", handle: ({ response }) => void response.setHeader("kitbag-call", "1").end() }],
  });
  const asked = "authorization,content-type,idempotency-key,kitbag-session,last-event-id,traceparent,x-request-id";
  const preflight = async (method: string): Promise<Response> =>
    fetch(`${gate.url}/api/conversations/x`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": method, "access-control-request-headers": asked },
    });

  const [allowed] = await Promise.all(["DELETE", "GET", "POST"].map(preflight));
  const answer = await fetch(`${gate.url}/api/tools`, { headers: { origin, authorization: `Bearer ${madeUpToken}` } });
  const refused = await fetch(`${gate.url}/api/tools`, { headers: { origin } });
  const foreign = await fetch(`${gate.url}/api/tools`, { headers: { origin: "https://evil.example" } });

  expect(allowed?.status).toBe(204);
  expect(allowed?.headers.get("access-control-allow-methods")).toBe("GET, POST, DELETE, OPTIONS");
  expect(allowed?.headers.get("access-control-allow-headers")).toBe(asked);
  for (const { headers } of [answer, refused]) {
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    const exposed = headers.get("access-control-expose-headers")?.split(", ");
    expect(exposed).toEqual(expect.arrayContaining(["kitbag-call", "x-request-id", "retry-after", "mcp-session-id"]));
  }
  expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
});
