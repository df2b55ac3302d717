import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { createMcpServer, openGate } from "kitbag/mcp";
import { expect, onTestFinished, test, vi } from "vitest";

import { makeDirectory, openMcp } from "../../../test/support/mcp-sources.ts";
import { openOAuthServer } from "../../../test/support/oauth-server.ts";
import { openLogIn } from "../../cli/mcp/trust-servers.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { McpAddress } from "../../core/mcp-source.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createConnector, type Connector } from "./connect-source.ts";

vi.setConfig({ testTimeout: 60_000 });

test("openAddress() reaches a Kitbag server with the token that a secret holds", async () => {
  const token = "t".repeat(32);
  const url = await serveKitbag(token);
  const { open } = openMcp({ findSecret: (name) => (name === "OTHER_TOKEN" ? token : undefined) });

  const workspace = await open({ name: "far", url, token: "OTHER_TOKEN" });

  expect(await workspace.call("far/double", { n: 4 })).toMatchObject({ status: "ok", output: 8 });
});

test("openAddress() connects again to a server that was started anew", async () => {
  const first = await openKitbag();
  const workspace = await openMcp().open({ name: "far", url: first.url });
  await first.close();

  const lost = await workspace.call("far/double", { n: 1 });
  await openKitbag(undefined, Number(new URL(first.url).port));
  const found = await workspace.call("far/double", { n: 2 });

  expect(lost).toMatchObject({ status: "failed", error: { code: "mcp-failed" } });
  expect(found).toMatchObject({ status: "ok", output: 4 });
});

test("openAddress() says that a server does not let it in, and that a secret is missing", async () => {
  const url = await serveKitbag("t".repeat(32));
  const wrong = openMcp({ findSecret: () => "wrong-token-wrong-token" });
  const none = openMcp();

  const answers = await Promise.all([
    wrong.open({ name: "far", url, token: "OTHER_TOKEN" }).catch(String),
    none.open({ name: "far", url, token: "OTHER_TOKEN" }).catch(String),
  ]);

  expect(answers[0]).toContain('Cannot use the MCP server "far"');
  expect(answers[0]).not.toContain("wrong-token-wrong-token");
  expect(answers[1]).toContain("the secret OTHER_TOKEN is not set");
});

test("openAddress() sends no secret to an address that is not encrypted", async () => {
  const { open } = openMcp({ findSecret: () => "secret-secret" });

  await expect(open({ name: "far", url: "http://example.com/mcp", token: "OTHER_TOKEN" })).rejects.toMatchObject({
    code: "mcp-failed",
    message: expect.stringContaining("http://example.com is not encrypted") as string,
  });
});

test("openAddress() takes no answer that is larger than a message may be", async () => {
  const url = await listen((respond) => respond("x".repeat(20 * 1024 * 1024)));

  await expect(openMcp().open({ name: "far", url })).rejects.toMatchObject({ code: "mcp-failed" });
});

test("openAddress() follows no redirect to another host", async () => {
  const elsewhere = await serveKitbag();
  const server = createServer((_request, response) => response.writeHead(307, { location: elsewhere }).end());
  const url = await start(server);

  await expect(openMcp().open({ name: "far", url })).rejects.toMatchObject({ code: "mcp-failed" });
});

test("openAddress() lets a person log in, keeps the tokens for this user alone, and renews them", async () => {
  const guarded = await openOAuthServer();
  const { runtime, home } = openMcp();
  const source = { name: "guarded", url: guarded.url, oauth: {} };
  const logIn = await openLogIn({ note: (text) => void fetch(/http\S+/u.exec(text)?.[0] ?? "") });
  onTestFinished(() => logIn.close());

  const { definitions } = await runtime.connect(source, { logIn });

  expect([...definitions.tools.keys()]).toEqual(["whoami"]);
  const folder = join(home, "mcp");
  const [file = ""] = readdirSync(folder);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(folder, file), "utf8")).toContain("access_token");

  guarded.expire();
  const later = await openMcp({ home }).open(source);
  expect(await later.call("guarded/whoami", {})).toEqual({ status: "ok", output: "Ada" });
  expect(guarded.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("openAddress() asks nobody for a client that acts for itself", async () => {
  const guarded = await openOAuthServer();
  const { open } = openMcp({ findSecret: () => "made-up-secret" });

  const workspace = await open({
    name: "guarded",
    url: guarded.url,
    oauth: { clientId: "robot", clientSecret: "ROBOT_SECRET", issuer: new URL(guarded.url).origin },
  });

  expect(await workspace.call("guarded/whoami", {})).toEqual({ status: "ok", output: "Ada" });
  expect(guarded.grants).toEqual(["client_credentials"]);
});

test("openAddress() lets a person log in for a client that has a secret, if the configuration says so", async () => {
  const guarded = await openOAuthServer();
  const { runtime } = openMcp({ findSecret: () => "made-up-secret" });
  const issuer = new URL(guarded.url).origin;
  const oauth = { clientId: "app", clientSecret: "APP_SECRET", issuer, login: true };
  const logIn = await openLogIn({ note: (text) => void fetch(/http\S+/u.exec(text)?.[0] ?? "") });
  onTestFinished(() => logIn.close());

  const { definitions } = await runtime.connect({ name: "guarded", url: guarded.url, oauth }, { logIn });

  expect([...definitions.tools.keys()]).toEqual(["whoami"]);
  expect(guarded.grants).toEqual(["authorization_code"]);
  expect(guarded.proofs).toEqual([`Basic ${Buffer.from("app:made-up-secret").toString("base64")}`]);
});

test("openAddress() sends a client's secret to no other authorization server than the one that is named", async () => {
  const guarded = await openOAuthServer();
  const { open } = openMcp({ findSecret: () => "made-up-secret" });
  const oauth = { clientId: "robot", clientSecret: "ROBOT_SECRET", issuer: "https://login.example.com" };

  await expect(open({ name: "guarded", url: guarded.url, oauth })).rejects.toMatchObject({ code: "mcp-failed" });
  expect(guarded.grants).toEqual([]);
});

test("openAddress() says how to log in where nobody can", async () => {
  const guarded = await openOAuthServer();

  await expect(openMcp().open({ name: "guarded", url: guarded.url, oauth: {} })).rejects.toMatchObject({
    code: "mcp-failed",
    message: expect.stringContaining("kitbag trust --mcp guarded") as string,
  });
});

test("openAddress() takes nothing that another log-in brought back", async () => {
  const guarded = await openOAuthServer();
  const { runtime } = openMcp();
  const logIn = {
    redirectUrl: "http://127.0.0.1:1/callback",
    show: () => {},
    waitFor: () => Promise.resolve(new URLSearchParams({ code: "stolen", state: "forged" })),
  };

  await expect(runtime.connect({ name: "guarded", url: guarded.url, oauth: {} }, { logIn })).rejects.toMatchObject({
    message: expect.stringContaining("what came back belongs to another log-in") as string,
  });
  expect(guarded.grants).toEqual([]);
});

test.for([
  ["of a configuration", {}, 'list the host in "allowHosts" of the server'],
  ["of a skill", { skill: "far" }, "list the address in the network permission of the skill"],
] as const)("R5: openAddress() reaches no server %s by a name that leads to this machine", async ([, owner, cure]) => {
  const watched = await watch();
  const source = { name: "far", url: `http://far.test:${watched.port}/mcp`, allowHosts: [], ...owner };

  const failure = await connect(source).catch(String);

  expect(failure).toContain("it is a loopback address");
  expect(failure).toContain(cure);
  expect(watched.seen).toEqual([]);
});

test("R5: openAddress() reaches a server of a skill at an address of its network rules, and by no name of this machine", async () => {
  const url = new URL(await serveKitbag());
  const byName = new URL(url);
  byName.hostname = "localhost";
  const rules = ["far.test", url.host];

  const connected = await connect({ name: "far", skill: "far", url: url.href, allowHosts: rules });
  await connected.connection.close();

  expect([...connected.connection.definitions.tools.keys()]).toEqual(["double"]);
  await expect(
    connect({
      name: "far",
      skill: "far",
      url: byName.href,
      allowHosts: [byName.host.replace("localhost", "10.0.0.1")],
    }),
  ).rejects.toThrow("it is a loopback address");
});

test("openAddress() reaches a private host that the configuration allows", async () => {
  const watched = await watch();
  const source = { name: "far", url: `http://far.test:${watched.port}/mcp`, allowHosts: ["far.test"] };

  await expect(connect(source)).rejects.toMatchObject({ code: "mcp-failed" });

  expect(watched.seen[0]).toMatchObject({ path: "/mcp" });
});

test("R5: openAddress() follows a log-in to no other port of this machine", async () => {
  const inner = await watch();
  const outer = await watch({ "www-authenticate": `Bearer resource_metadata="${inner.origin}/internal-metadata"` });
  const source = { name: "far", url: `${outer.origin}/mcp`, oauth: {} };

  const failure = await connect(source).catch(String);

  expect(failure).toContain(`Cannot connect to "127.0.0.1:${inner.port}"`);
  expect(inner.seen).toEqual([]);
});

test.for([["authorization_servers"], ["registration_endpoint"], ["token_endpoint"]] as const)(
  "R5: openAddress() is led to no other port of this machine by %s",
  async ([part]) => {
    const inner = await watch();
    const guarded = await openOAuthServer({ [part]: part.endsWith("s") ? [inner.origin] : `${inner.origin}/x` });
    const { runtime } = openMcp({ findSecret: () => "made-up-secret" });
    const issuer = new URL(guarded.url).origin;
    const oauth = part === "token_endpoint" ? { clientId: "robot", clientSecret: "ROBOT_SECRET", issuer } : {};

    const failure = await runtime.connect({ name: "guarded", url: guarded.url, oauth }).catch(String);

    expect(failure).toContain(`Cannot connect to "127.0.0.1:${inner.port}"`);
    expect(inner.seen).toEqual([]);
  },
);

test("openAddress() sends the headers of a server to no other server that its log-in leads to", async () => {
  const other = await watch();
  const outer = await watch({ "www-authenticate": `Bearer resource_metadata="${other.origin}/metadata"` });
  const headers = { "x-key": "OTHER_KEY" };
  const source = {
    name: "far",
    url: `${outer.origin}/mcp`,
    headers,
    oauth: {},
    allowHosts: [`127.0.0.1:${other.port}`],
  };

  await expect(connect(source)).rejects.toMatchObject({ code: "mcp-failed" });

  expect(outer.seen[0]).toMatchObject({ path: "/mcp", key: "secret-of-OTHER_KEY" });
  expect(other.seen.map(({ path }) => path)).toContain("/metadata");
  expect(other.seen.filter(({ key }) => key !== undefined)).toEqual([]);
});

/** Connects with a resolver for which every name leads to this machine. */
function connect(source: McpAddress): ReturnType<Connector> {
  const fail = (): never => {
    throw new Error("no program is started here");
  };
  const connector = createConnector({
    home: makeDirectory(),
    findSandbox: fail,
    toPlaces: fail,
    findSecret: (name) => `secret-of-${name}`,
    lookup: () => Promise.resolve(["127.0.0.1"]),
  });
  return connector(source, { signal: AbortSignal.timeout(20_000), onDefinitions: () => {}, onContent: () => {} });
}

interface Watched {
  readonly origin: string;
  readonly port: string;
  readonly seen: { readonly path: string | undefined; readonly key: unknown }[];
}

/** A server that lets no request in, and remembers them all. */
async function watch(headers: Readonly<Record<string, string>> = {}): Promise<Watched> {
  const seen: Watched["seen"] = [];
  const url = await start(
    createServer((request, response) => {
      seen.push({ path: request.url, key: request.headers["x-key"] });
      response.writeHead(401, headers).end();
    }),
  );
  const { origin, port } = new URL(url);
  return { origin, port, seen };
}

async function serveKitbag(token?: string): Promise<string> {
  return (await openKitbag(token)).url;
}

async function openKitbag(token?: string, port = 0): Promise<{ readonly url: string; close(): Promise<void> }> {
  const double = defineTool({
    name: "double",
    description: "Doubles a number",
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    output: { type: "number" },
    run: ({ n }) => 2 * Number(n),
  });
  const serving = createMcpServer({ workspace: createWorkspace({ tools: [double] }), exposure: "direct" });
  const gate = await openGate({ port, routes: [serving.route()], ...(token !== undefined && { tokens: [{ token }] }) });
  const close = async (): Promise<void> => {
    await gate.close({ graceMs: 0 });
    await serving.close();
  };
  onTestFinished(close);
  return { url: `${gate.url}/mcp`, close };
}

function listen(handle: (respond: (text: string) => void) => void): Promise<string> {
  return start(
    createServer((_request, response) => {
      handle((text) => void response.writeHead(200, { "content-type": "application/json" }).end(text));
    }),
  );
}

async function start(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
