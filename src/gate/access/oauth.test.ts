import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";

import { startKeyServer, type KeyServer, type TokenClaims } from "../../../test/support/key-server.ts";
import { madeUpToken, openTestGate } from "../../../test/support/test-gate.ts";
import type { Caller, Gate, GateOAuth, GateOptions } from "../gate.ts";

const resource = "https://tools.example.com/mcp";

test("a JWT of the issuer lets its subject in with its scopes", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);

  const response = await ask(gate, await server.sign({ scope: "tools:pdf tools:csv" }));

  expect(response.status).toBe(200);
  expect(callers).toEqual([{ id: "oauth:ann", scopes: new Set(["tools:pdf", "tools:csv"]) }]);
});

test("scopes are also read from scp, and a token without any has none", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);

  await ask(gate, await server.sign({ more: { scp: ["tools", 7, ""] } }));
  await ask(gate, await server.sign());

  expect(callers.map(({ scopes }) => scopes)).toEqual([new Set(["tools"]), new Set()]);
});

test("the keys are found through the metadata of the issuer", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, { issuer: server.url, resource });

  const response = await ask(gate, await server.sign());

  expect(response.status).toBe(200);
});

test("a JWT is known after its first request, also when the issuer fails", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server);
  const token = await server.sign();
  await ask(gate, token);

  server.fail(true);
  const response = await ask(gate, token);

  expect(response.status).toBe(200);
  expect(server.asked).toBe(1);
});

test("a JWT that is known is not let in when it is over", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server);
  // Clocks may be five seconds apart, so this one is good for two more.
  const token = await server.sign({ expiresIn: -3 });

  const before = await ask(gate, token);
  await new Promise((resolve) => setTimeout(resolve, 3100));
  const after = await ask(gate, token);

  expect([before.status, after.status]).toEqual([200, 401]);
});

test.for<[string, TokenClaims, string]>([
  ["that is expired", { expiresIn: -60 }, "it is expired"],
  ["of another issuer", { issuer: "https://evil.com" }, 'its claim "iss" is not as expected'],
  ["for another service", { audience: "https://other.example.com" }, 'its claim "aud" is not as expected'],
  ["for a longer address", { audience: `${resource}/x` }, 'its claim "aud" is not as expected'],
  ["for nobody", { audience: [] }, 'its claim "aud" is not as expected'],
  ["of nobody", { subject: "" }, "it does not say whose it is"],
  ["that begins later", { more: { nbf: Math.floor(Date.now() / 1000) + 600 } }, 'its claim "nbf" is not as expected'],
])("a JWT %s is not right", async ([, claims, reason]) => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);

  const response = await ask(gate, await server.sign(claims));

  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({ error: { status: 401, message: `the token is not right: ${reason}` } });
  expect(response.headers.get("www-authenticate")).toBe(
    'Bearer error="invalid_token", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"',
  );
  expect(callers).toEqual([]);
});

test("a JWT that somebody else signed is not right, whatever key it names", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);
  const { privateKey } = await generateKeyPair("ES256");

  const forged = [await server.sign({}, privateKey), await server.sign({}, privateKey, { kid: "key-2" })];
  const statuses = await Promise.all(forged.map(async (token) => (await ask(gate, token)).status));

  expect(statuses).toEqual([401, 401]);
  expect(callers).toEqual([]);
});

test("a JWT without a signature is not right, however it says so", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);
  const none = new UnsecuredJWT({})
    .setIssuer(server.url)
    .setAudience(resource)
    .setSubject("ann")
    .setExpirationTime("1h")
    .encode();
  const [, payload = ""] = none.split(".");
  const head = (alg: string): string => Buffer.from(JSON.stringify({ alg })).toString("base64url");

  const statuses = await Promise.all(
    [none, `${none}x`, ...["None", "NONE", "nOnE", ""].map((alg) => `${head(alg)}.${payload}.`), `.${payload}.`].map(
      async (token) => (await ask(gate, token)).status,
    ),
  );

  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(callers).toEqual([]);
});

test("a JWT signed with the public key as a shared secret is not right", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);
  const keys = (await (await fetch(`${server.url}/keys`)).json()) as { keys: Record<string, string>[] };
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const secrets = [JSON.stringify(keys.keys[0]), keys.keys[0]?.["x"] ?? "", await exportSPKI(publicKey)];

  const statuses = await Promise.all(
    secrets.map(async (secret) => {
      const token = await new SignJWT({ sub: "ann", iss: server.url, aud: resource })
        .setProtectedHeader({ alg: "HS256", kid: "key-1" })
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(secret.padEnd(32, "0")));
      return (await ask(gate, token)).status;
    }),
  );

  expect(new Set(statuses)).toEqual(new Set([401]));
  expect(callers).toEqual([]);
});

test("a JWT whose payload was changed is not right", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server);
  const [head, payload = "", signature] = (await server.sign({ scope: "tools:read" })).split(".");
  const changed = Buffer.from(payload, "base64url").toString().replace("tools:read", "tools:full");

  const response = await ask(gate, `${head}.${Buffer.from(changed).toString("base64url")}.${signature}`);

  expect(response.status).toBe(401);
});

test.for(["a.b.c", "..", "e30.e30.e30", `${"x".repeat(8000)}.y.z`, "%00.%00.%00", "a.b.c.d.e"])(
  "%j is no JWT",
  async (token) => {
    const server = await startKeyServer();
    const { gate } = await open(server);

    const response = await ask(gate, token);

    expect(response.status).toBe(401);
  },
);

test("a JWT that lacks a scope that everybody needs is refused with the scope in the challenge", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, { ...toOAuth(server), requiredScopes: ["kitbag:use"] });

  const lacking = await ask(gate, await server.sign({ scope: "tools" }));
  const having = await ask(gate, await server.sign({ scope: "kitbag" }));

  expect(having.status).toBe(200);
  expect(lacking.status).toBe(403);
  expect(lacking.headers.get("www-authenticate")).toBe(
    'Bearer error="insufficient_scope", scope="kitbag:use", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"',
  );
});

test(
  "a token cannot be checked while the issuer gives no keys, and can again when it does",
  { timeout: 20_000 },
  async () => {
    const server = await startKeyServer();
    const { gate } = await open(server);
    server.fail(true);

    const during = await ask(gate, await server.sign());
    server.fail(false);
    await new Promise((resolve) => setTimeout(resolve, 5200));
    const after = await ask(gate, await server.sign());

    expect([during.status, after.status]).toEqual([503, 200]);
  },
);

test("metadata of another issuer are not believed", async () => {
  const server = await startKeyServer();
  const issuer = server.url.replace("127.0.0.1", "localhost");
  const { gate } = await open(server, { issuer, resource });

  const response = await ask(gate, await server.sign({ issuer }));

  expect(response.status).toBe(503);
});

test.for(["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"])(
  "%s says where tokens come from, to everybody",
  async (path) => {
    const server = await startKeyServer();
    const { gate } = await open(server, { ...toOAuth(server), scopes: ["tools"] });

    const response = await fetch(gate.url + path, { headers: { origin: "https://app.example.com" } });

    expect(await response.json()).toEqual({
      resource,
      authorization_servers: [server.url],
      bearer_methods_supported: ["header"],
      scopes_supported: ["tools"],
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  },
);

test("the resource is the gate's own address with its first route if nothing else is said", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, { issuer: server.url });

  const response = await fetch(`${gate.url}/mcp`);

  expect(response.headers.get("www-authenticate")).toBe(
    `Bearer resource_metadata="${gate.url}/.well-known/oauth-protected-resource/mcp"`,
  );
  expect((await ask(gate, await server.sign({ audience: `${gate.url}/mcp` }))).status).toBe(200);
});

test("a token and OAuth let their callers in side by side", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server, toOAuth(server), { tokens: [{ token: madeUpToken }] });

  await ask(gate, madeUpToken);
  await ask(gate, await server.sign());

  expect(callers.map(({ id }) => id)).toEqual([expect.stringMatching(/^token-/u), "oauth:ann"]);
});

test("forged JWTs count as guesses", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, toOAuth(server), { limits: { guesses: { perSecond: 0.1, burst: 2 } } });
  const { privateKey } = await generateKeyPair("ES256");

  const statuses = [];
  for (let index = 0; index < 4; index += 1) {
    statuses.push((await ask(gate, await server.sign({ subject: `ann-${index}` }, privateKey))).status);
  }

  expect(statuses).toEqual([401, 401, 429, 429]);
});

test("wrong tokens of an address do not lock out a JWT that comes for the first time", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, toOAuth(server), { limits: { guesses: { perSecond: 0.1, burst: 2 } } });
  for (let index = 0; index < 5; index += 1) await ask(gate, "x.y.z");

  const statuses = [await ask(gate, await server.sign({ subject: "carol" })), await ask(gate, "x.y.z")];

  expect(statuses.map(({ status }) => status)).toEqual([200, 429]);
});

test("keys that were read let new JWTs in while the issuer fails, also after one with an unknown key", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server);
  await ask(gate, await server.sign());

  server.fail(true);
  // The keys are older than they are used without asking again.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { privateKey } = await generateKeyPair("ES256");
  const unknown = await server.sign({ subject: "mallory" }, privateKey, { kid: "key-2" });
  const statuses = [
    await ask(gate, await server.sign({ subject: "bob" })),
    await ask(gate, unknown),
    await ask(gate, await server.sign({ subject: "carol" })),
    await ask(gate, await server.sign({ subject: "dave" }, privateKey)),
  ];

  expect(statuses.map(({ status }) => status)).toEqual([200, 503, 200, 401]);
  expect(server.asked).toBe(2);
});

test("a stream ends when the JWT that it was opened with has expired", async () => {
  const server = await startKeyServer();
  const { gate } = await open(server, toOAuth(server), {
    routes: [{ path: "/mcp", handle: ({ response }) => void response.writeHead(200).write("begun") }],
  });

  // Clocks may be five seconds apart, so this one is good for two more.
  const { body } = await ask(gate, await server.sign({ expiresIn: -3 }));

  await expect(new Response(body).text()).rejects.toThrow();
});

test("callers whose names are similar stay apart", async () => {
  const server = await startKeyServer();
  const { gate, callers } = await open(server);
  const long = "a".repeat(200);
  const claims: readonly TokenClaims[] = [
    { subject: "alice" },
    { subject: "", more: { azp: "alice" } },
    { subject: "client:alice" },
    { subject: `${long}1` },
    { subject: `${long}2` },
    { subject: "nul\u0000" },
    { subject: "nul?" },
    { subject: "zero\u200Bwidth" },
    { subject: "x".repeat(10_240) },
  ];

  const statuses = [];
  for (const claim of claims) statuses.push((await ask(gate, await server.sign(claim))).status);
  const ids = callers.map(({ id }) => id);
  await ask(gate, await server.sign({ subject: String(ids.at(-4)).slice("oauth:".length) }));

  expect(statuses).toEqual(claims.map(() => 200));
  expect(new Set(callers.map(({ id }) => id)).size).toBe(claims.length + 1);
  expect(ids.slice(0, 3)).toEqual(["oauth:alice", "oauth-client:alice", "oauth:client:alice"]);
  expect(callers.every(({ id }) => id.length < 300 && !id.includes("\u0000"))).toBe(true);
});

function toOAuth(server: KeyServer): GateOAuth {
  return { issuer: server.url, resource, jwksUrl: `${server.url}/keys` };
}

async function open(
  server: KeyServer,
  oauth = toOAuth(server),
  options: Partial<GateOptions> = {},
): Promise<{ readonly gate: Gate; readonly callers: Caller[] }> {
  const callers: Caller[] = [];
  const gate = await openTestGate({
    oauth,
    routes: [
      {
        path: "/mcp",
        handle({ caller, response }) {
          callers.push(caller);
          response.end();
        },
      },
    ],
    ...options,
  });
  return { gate, callers };
}

async function ask(gate: Gate, token: string): Promise<Response> {
  return fetch(`${gate.url}/mcp`, { headers: { authorization: `Bearer ${token}` } });
}
