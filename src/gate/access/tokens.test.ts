import { expect, test } from "vitest";

import { echoRoute, madeUpToken, openTestGate } from "../../../test/support/test-gate.ts";
import type { Caller, Gate } from "../gate.ts";
import { createScopesOf, readBearer } from "./token-check.ts";

test.for([
  ["Bearer abc", "abc"],
  ["bearer abc", "abc"],
  ["BEARER   abc  ", "abc"],
  ["Bearer ", undefined],
  ["Bearer", undefined],
  ["Basic abcdefgh", undefined],
  ["abcdefghijk", undefined],
  ["", undefined],
  [undefined, undefined],
])("readBearer() of %j is %j", ([header, token]) => {
  expect(readBearer(header)).toBe(token);
});

test("a gate with tokens lets nobody in without one, and says how to send it", async () => {
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }] });

  const response = await fetch(`${gate.url}/echo`);

  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await response.json()).toEqual({
    error: { status: 401, message: 'a token is needed; send it as "Authorization: Bearer <token>"' },
  });
});

test.for([
  "wrong-wrong-wrong-wrong",
  madeUpToken.slice(0, -1),
  `${madeUpToken}x`,
  madeUpToken.toUpperCase(),
  `${madeUpToken} ${madeUpToken}`,
  "a.b.c",
  "__proto__",
])("a gate with tokens does not take %j", async (token) => {
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }] });

  const response = await ask(gate, token);

  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(await response.text()).not.toContain(token);
});

test("a gate tells a route whose token it was and what it is good for", async () => {
  const callers: Caller[] = [];
  const gate = await openTestGate({
    tokens: [
      { token: `${madeUpToken}-1` },
      { token: `${madeUpToken}-2`, id: "reader", scopes: ["tools:read"] },
      { token: `${madeUpToken}-3`, scopes: [] },
    ],
    routes: [
      {
        path: "/echo",
        handle({ caller, response }) {
          callers.push(caller);
          response.end();
        },
      },
    ],
  });

  for (const end of ["-1", "-2", "-3"]) await ask(gate, madeUpToken + end);

  expect(callers).toEqual([
    { id: "token-1", scopes: "all" },
    { id: "reader", scopes: new Set(["tools:read"]) },
    { id: "token-3", scopes: new Set() },
  ]);
});

test("refuseScope() answers with a challenge that names the scopes", async () => {
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken, scopes: [] }],
    routes: [
      {
        path: "/echo",
        handle(request) {
          request.refuseScope(["tools:pdf", 'a"b\r\n']);
        },
      },
    ],
  });

  const response = await ask(gate, madeUpToken);

  expect(response.status).toBe(403);
  expect(response.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope", scope="tools:pdf ab"');
});

test("guesses stop somebody who tries many tokens, also when one of them is right", async () => {
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    limits: { guesses: { perSecond: 0.1, burst: 5 } },
  });

  const statuses = [];
  for (let index = 0; index < 8; index += 1) statuses.push((await ask(gate, `guess-number-${index}-of-many`)).status);
  statuses.push((await ask(gate, madeUpToken)).status);

  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429]);
});

test("guesses of others do not lock out who was let in from the same address before", async () => {
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    limits: { guesses: { perSecond: 0.1, burst: 2 } },
  });
  await ask(gate, madeUpToken);
  for (let index = 0; index < 5; index += 1) await ask(gate, `guess-number-${index}-of-many`);

  const response = await ask(gate, madeUpToken);

  expect(response.status).toBe(200);
});

test("guesses are not counted for requests without a token", async () => {
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    limits: { guesses: { perSecond: 0.1, burst: 2 } },
  });
  for (let index = 0; index < 5; index += 1) await fetch(`${gate.url}/echo`);

  const response = await ask(gate, madeUpToken);

  expect(response.status).toBe(200);
});

test("/healthz needs no token, and says nothing more than that the service lives", async () => {
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }], routes: [echoRoute] });

  const response = await fetch(`${gate.url}/healthz`);

  expect(await response.text()).toBe('{"status":"ok"}');
});

async function ask(gate: Gate, token: string): Promise<Response> {
  return fetch(`${gate.url}/echo`, { headers: { authorization: `Bearer ${token}` } });
}

test("createScopesOf() knows what all tokens of a user allow together, and that a user without one has no scopes", () => {
  const scopesOf = createScopesOf([
    { token: "a".repeat(32), id: "ann", scopes: ["tools:read"] },
    { token: "b".repeat(32), id: "ann", scopes: ["tools:write"] },
    { token: "c".repeat(32), id: "bob", scopes: ["tools:read"] },
    { token: "d".repeat(32), id: "bob" },
    { token: "e".repeat(32) },
  ]);

  expect(scopesOf("ann")).toEqual(new Set(["tools:read", "tools:write"]));
  expect([scopesOf("bob"), scopesOf("token-5")]).toEqual(["all", "all"]);
  expect(scopesOf("left")).toEqual(new Set());
  expect([scopesOf("local"), scopesOf("oauth:zoe")]).toEqual([undefined, undefined]);
});
