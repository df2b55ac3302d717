import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { createMcpServer, openGate } from "kitbag/mcp";
import { expect, onTestFinished, test, vi } from "vitest";

import { openMcp } from "../../../test/support/mcp-sources.ts";
import { openOAuthServer } from "../../../test/support/oauth-server.ts";
import { openLogIn } from "../../cli/mcp/log-in.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";

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
