import { expect, test } from "vitest";

import { echoRoute, madeUpToken, openTestGate } from "../../../test/support/test-gate.ts";
import type { Caller, Gate, GateEvent, GateOptions, GateToken } from "../gate.ts";
import { createScopesOf, digestToken, readBearer } from "./token-check.ts";

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
    { id: expect.stringMatching(/^token-[\da-f]{12}$/u), scopes: "all" },
    { id: "reader", scopes: new Set(["tools:read"]) },
    { id: expect.stringMatching(/^token-[\da-f]{12}$/u), scopes: new Set() },
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

test("/healthz answers 503 with the reason while there is no service", async () => {
  const gate = await openTestGate({ unavailable: "store-unaccepted: a person must agree first" });

  const response = await fetch(`${gate.url}/healthz`);

  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: "unavailable",
    reason: "store-unaccepted: a person must agree first",
  });
});

test("refreshTokens() is asked before a token of kitbag token is refused, and one that became good is no guess", async () => {
  const token = `kitbag_${madeUpToken}`;
  const known: GateToken[] = [{ token: madeUpToken }];
  const gate: Gate = await openTestGate({
    tokens: known,
    limits: { guesses: { perSecond: 0.1, burst: 1 } },
    refreshTokens: () => gate.setTokens(known),
  });

  known.push({ sha256: digestToken(token), id: "ann" });
  const added = await ask(gate, token);
  const other = await ask(gate, `${token}-of-nobody`);

  expect([added.status, other.status]).toEqual([200, 401]);
  expect(await other.json()).toEqual({
    error: {
      status: 401,
      message: "the token is unknown or was revoked; make one with: kitbag token add <name>",
    },
  });
});

test("refreshTokens() is asked at most ten times a second, and for no token that a person thought of", async () => {
  let asked = 0;
  const gate = await openTestGate({
    tokens: [{ token: madeUpToken }],
    limits: { guesses: "off" },
    refreshTokens: () => void (asked += 1),
  });

  await ask(gate, "wrong-wrong-wrong-wrong");
  const before = asked;
  const started = performance.now();
  for (let index = 0; index < 50; index += 1) await ask(gate, `kitbag_${index}`);
  const most = 1 + Math.ceil((performance.now() - started) / 100);

  expect(before).toBe(0);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThanOrEqual(most);
});

test("a token that is known by its digest lets its owner in, and the digest itself nobody", async () => {
  const sha256 = digestToken(madeUpToken);
  const gate = await openTestGate({ tokens: [{ sha256, id: "ann" }] });

  const responses = [await ask(gate, madeUpToken), await ask(gate, sha256), await ask(gate, `sha256:${sha256}`)];

  expect(responses.map(({ status }) => status)).toEqual([200, 401, 401]);
});

test("guesses of others do not lock out a random token that comes for the first time", async () => {
  const gate = await openTestGate({
    tokens: [{ sha256: digestToken(madeUpToken) }],
    limits: { guesses: { perSecond: 0.1, burst: 2 } },
  });
  for (let index = 0; index < 5; index += 1) await ask(gate, `guess-number-${index}-of-many`);

  const response = await ask(gate, madeUpToken);

  expect(response.status).toBe(200);
});

test("a token in the address is none", async () => {
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }] });

  const responses = await Promise.all(
    [`?token=${madeUpToken}`, `?access_token=${madeUpToken}`].map((query) => fetch(`${gate.url}/echo${query}`)),
  );

  expect(responses.map(({ status }) => status)).toEqual([401, 401]);
  for (const response of responses) {
    const text = await response.text();
    expect(text).toContain(
      "the token in the address was ignored; logs on the way may hold it, so revoke it and make another",
    );
    expect(text).not.toContain(madeUpToken);
  }
});

test("setTokens() refuses a token that is gone, and lets one in that is new", async () => {
  const [old, fresh] = [`${madeUpToken}-old`, `${madeUpToken}-new`];
  const gate = await openTestGate({ tokens: [{ token: old }] });

  gate.setTokens([{ token: fresh }]);

  expect([(await ask(gate, old)).status, (await ask(gate, fresh)).status]).toEqual([401, 200]);
});

test("setTokens() without tokens lets nobody in, also where everybody was", async () => {
  const gates = [await openTestGate({ tokens: [{ token: madeUpToken }] }), await openTestGate()];

  for (const gate of gates) gate.setTokens([]);

  const statuses = await Promise.all(gates.map(async (gate) => (await ask(gate, madeUpToken)).status));
  expect(statuses).toEqual([401, 401]);
});

test("setTokens() cuts the stream of a token that is gone, and no other", async () => {
  const events: GateEvent[] = [];
  const gone: string[] = [];
  const tokens = toTokens(["ann", "bob"]);
  const gate = await openStreams(tokens, { report: (event) => events.push(event) }, gone);
  const [ann, bob] = await Promise.all(tokens.map(({ token }) => readStream(gate, token)));

  gate.setTokens(tokens.slice(1));

  await expect(ann?.ended).rejects.toThrow();
  expect(bob?.isOpen()).toBe(true);
  expect(gone).toEqual(["ann"]);
  expect(events).toMatchObject([{ type: "client-cut", reason: "the token of ann is no longer good for it" }]);
});

test("setTokens() cuts what a token was let in for that has fewer scopes now", async () => {
  const tokens = toTokens(["ann"]);
  const gate = await openStreams(tokens);
  const stream = await readStream(gate, `${madeUpToken}-ann`);

  gate.setTokens(tokens.map((token) => ({ ...token, scopes: ["tools:read"] })));

  await expect(stream.ended).rejects.toThrow();
});

test("setTokens() keeps the streams of tokens that stay as they are, in whatever order", async () => {
  const tokens = toTokens(["ann", "bob"]).map((token) => ({ ...token, scopes: ["tools:read", "tools:write"] }));
  const gate = await openStreams(tokens);
  const streams = await Promise.all(tokens.map(({ token }) => readStream(gate, token)));

  gate.setTokens(tokens.toReversed().map((token) => ({ ...token, scopes: ["tools:write", "tools:read"] })));
  await ask(gate, "any-other-request");

  expect(streams.map((stream) => stream.isOpen())).toEqual([true, true]);
});

test.for<[string, GateToken]>([
  ["a token that is too short", { token: "short" }],
  ["a digest that is none", { sha256: "abc" }],
  ["the name of somebody who logs in elsewhere", { token: `${madeUpToken}-2`, id: "oauth:alice" }],
  ["the name of a program that logs in elsewhere", { token: `${madeUpToken}-2`, id: "oauth-client:alice" }],
  ["a name with NUL", { token: `${madeUpToken}-2`, id: "al\u0000ice" }],
  ["a name with a character that does not show", { token: `${madeUpToken}-2`, id: "al\u200Bice" }],
  ["a name of 10 KB", { token: `${madeUpToken}-2`, id: "a".repeat(10_240) }],
  ["an empty name", { token: `${madeUpToken}-2`, id: "" }],
])("setTokens() refuses %s, and changes nothing", async ([, wrong]) => {
  const gate = await openTestGate({ tokens: [{ token: madeUpToken }] });

  expect(() => gate.setTokens([wrong])).toThrow(expect.objectContaining({ code: "option-invalid" }));

  expect((await ask(gate, madeUpToken)).status).toBe(200);
});

function toTokens(ids: readonly string[]): { readonly token: string; readonly id: string }[] {
  return ids.map((id) => ({ token: `${madeUpToken}-${id}`, id }));
}

/** A gate whose route begins an answer and never ends it. */
function openStreams(
  tokens: readonly GateToken[],
  options: Partial<GateOptions> = {},
  gone: string[] = [],
): Promise<Gate> {
  return openTestGate({
    tokens,
    routes: [
      {
        path: "/echo",
        handle: ({ response }) => void response.writeHead(200).write("begun"),
        onCallerGone: ({ id }) => void gone.push(id),
      },
    ],
    ...options,
  });
}

async function readStream(
  gate: Gate,
  token: string,
): Promise<{ readonly ended: Promise<void>; readonly isOpen: () => boolean }> {
  const { body } = await ask(gate, token);
  const reader = body?.getReader();
  await reader?.read();
  let isOpen = true;
  const ended = Promise.resolve(reader?.read()).then(
    () => void (isOpen = false),
    (cause: unknown) => {
      isOpen = false;
      throw cause;
    },
  );
  ended.catch(() => {});
  return { ended, isOpen: () => isOpen };
}

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
  expect([scopesOf("bob"), scopesOf(`token-${digestToken("e".repeat(32)).slice(0, 12)}`)]).toEqual(["all", "all"]);
  expect(scopesOf("left")).toEqual(new Set());
  expect(["local", "oauth:zoe", "oauth-client:zoe"].map(scopesOf)).toEqual([undefined, undefined, undefined]);
});
