import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { egressRequest } from "./egress-request.ts";
import type { EgressConnection } from "./ledger.ts";

const openssl = "openssl";
const toHere = async (): Promise<string[]> => ["127.0.0.1"];

test("egressRequest() answers with status, headers and body", async () => {
  const port = await serve((request, response) => {
    void text(request).then((body) => {
      response.writeHead(201, { "X-Method": request.method, "X-Host": request.headers.host, "Set-Cookie": ["a", "b"] });
      response.end(`${request.url} ${String(request.headers["x-own"])} ${body}`);
    });
  });

  const response = await egressRequest([`127.0.0.1:${port}`], {
    url: `http://127.0.0.1:${port}/path?query=1#rest`,
    method: "post",
    headers: { "X-Own": "1" },
    body: "hello",
  });

  expect(response).toMatchObject({
    status: 201,
    headers: { "x-method": "POST", "x-host": `127.0.0.1:${port}`, "set-cookie": "a, b" },
    url: `http://127.0.0.1:${port}/path?query=1#rest`,
  });
  expect(Buffer.from(response.body).toString()).toBe("/path?query=1 1 hello");
});

test.for([
  ["http://evil.test/", "evil.test:80"],
  ["https://evil.test/", "evil.test:443"],
  ["http://ok.test:81/", "ok.test:81"],
  ["http://2130706433/", "127.0.0.1:80"],
  ["http://0x7f.1/", "127.0.0.1:80"],
  ["http://127.0.0.1:1/", "127.0.0.1:1"],
  ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]:80"],
  ["http://ok.test.evil.test/", "ok.test.evil.test:80"],
  ["http://ok%2etest.evil.test/", "ok.test.evil.test:80"],
] as const)("egressRequest() refuses %s", async ([url, target]) => {
  const lookups: string[] = [];
  const lookup = async (name: string): Promise<string[]> => {
    lookups.push(name);
    return ["127.0.0.1"];
  };

  const request = egressRequest(["ok.test"], { url }, { lookup });

  await expect(request).rejects.toMatchObject({ code: "network-refused", details: { target } });
  expect(lookups).toEqual([]);
});

test("egressRequest() refuses a name that leads to a private address, and says how to allow it", async () => {
  const request = egressRequest(["ok.test"], { url: "http://ok.test/" }, { lookup: toHere });

  await expect(request).rejects.toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot connect to "ok.test:80": the name leads to a loopback address; list the address too (127.0.0.1:80) to allow it]`,
  );
});

test("egressRequest() reaches a private address by its name if both are listed", async () => {
  const port = await serve((request, response) => response.end(request.headers.host));

  const response = await egressRequest(
    [`ok.test:${port}`, `127.0.0.1:${port}`],
    { url: `http://ok.test:${port}/` },
    { lookup: toHere },
  );

  expect(Buffer.from(response.body).toString()).toBe(`ok.test:${port}`);
});

test.for([
  ["not a url", "it is not a URL"],
  ["file:///etc/passwd", "only http and https"],
  ["ftp://ok.test/", "only http and https"],
  ["http://user:word@ok.test/", "a URL with a user name is not used"],
] as const)("egressRequest() does not use %s", async ([url, reason]) => {
  const request = egressRequest(["ok.test"], { url }, { lookup: toHere });

  await expect(request).rejects.toMatchObject({ code: "network-failed", details: { reason } });
});

test.for([
  { method: "CONNECT" },
  { method: "GET / HTTP/1.1\r\nX: y" },
  { headers: { Host: "evil.test" } },
  { headers: { "Transfer-Encoding": "chunked" } },
  { headers: { "Content-Length": "3" } },
  { headers: { "X-Own": "a\r\nX-Other: b" } },
  { headers: { "X Own": "a" } },
] as const)("egressRequest() does not send %j", async (part) => {
  const seen: IncomingMessage[] = [];
  const port = await serve((request, response) => {
    seen.push(request);
    response.end();
  });

  const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/`, ...part });

  await expect(request).rejects.toMatchObject({ code: "network-failed" });
  expect(seen).toEqual([]);
});

test("egressRequest() takes a header named __proto__ as a header", async () => {
  const port = await serve((request, response) => {
    response.setHeader("__proto__", "back");
    response.end(String(request.rawHeaders.includes("__proto__")));
  });
  const headers = JSON.parse('{"__proto__": "there"}') as Record<string, string>;

  const response = await egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/`, headers });

  expect(Buffer.from(response.body).toString()).toBe("true");
  expect(Object.entries(response.headers)).toContainEqual(["__proto__", "back"]);
});

test("egressRequest() follows a redirect without what is meant for the first host alone", async () => {
  const second = await serve((request, response) => response.end(JSON.stringify([request.method, request.headers])));
  const first = await serve((_, response) => response.writeHead(302, { Location: `http://b.test:${second}/x` }).end());

  const response = await egressRequest(
    [`a.test:${first}`, `b.test:${second}`, `127.0.0.1:${first}`, `127.0.0.1:${second}`],
    {
      url: `http://a.test:${first}/`,
      method: "POST",
      headers: { Authorization: "secret", Cookie: "secret", "Content-Type": "text/plain", "X-Own": "kept" },
      body: "body",
    },
    { lookup: toHere },
  );

  const [method, headers] = JSON.parse(Buffer.from(response.body).toString()) as [string, Record<string, string>];
  expect(response.url).toBe(`http://b.test:${second}/x`);
  expect(method).toBe("GET");
  expect(headers).toEqual({
    host: `b.test:${second}`,
    "accept-encoding": "identity",
    "x-own": "kept",
    connection: "close",
  });
});

test.for(["http://evil.test/", "http://169.254.169.254/", "//evil.test/"])(
  "egressRequest() does not follow a redirect to %s",
  async (location) => {
    const port = await serve((_, response) => response.writeHead(307, { Location: location }).end());

    const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/` });

    await expect(request).rejects.toMatchObject({ code: "network-refused" });
  },
);

test("egressRequest() does not follow a redirect to a file", async () => {
  const port = await serve((_, response) => response.writeHead(302, { Location: "file:///etc/passwd" }).end());

  const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/` });

  await expect(request).rejects.toMatchObject({ code: "network-failed", details: { reason: "only http and https" } });
});

test("egressRequest() ends a circle of redirects", async () => {
  let hits = 0;
  const port = await serve((_, response) => {
    hits++;
    response.writeHead(302, { Location: "/" }).end();
  });

  const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/` }, { maxRedirects: 3 });

  await expect(request).rejects.toMatchObject({ details: { reason: "there were more than 3 redirects" } });
  expect(hits).toBe(4);
});

test("egressRequest() stops an answer that is too large", async () => {
  const port = await serve((_, response) => {
    const more = (): void => {
      while (response.write("x".repeat(10_000))) continue;
      response.once("drain", more);
    };
    more();
  });

  const request = egressRequest(
    [`127.0.0.1:${port}`],
    { url: `http://127.0.0.1:${port}/` },
    { maxResponseBytes: 50_000 },
  );

  await expect(request).rejects.toMatchObject({ details: { reason: "the answer has more than 50000 bytes" } });
});

test("egressRequest() does not send a body that is too large", async () => {
  const request = egressRequest(["ok.test"], { url: "http://ok.test/", body: "12345" }, { maxRequestBytes: 4 });

  await expect(request).rejects.toMatchObject({ details: { reason: "the body has more than 4 bytes" } });
});

test("egressRequest() gives up at its limit", async () => {
  const port = await serve((_, response) => void response.write("slow"));

  const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/` }, { limitMs: 100 });

  await expect(request).rejects.toMatchObject({ details: { reason: "it was not done after 100 ms" } });
});

test("egressRequest() gives up on a resolver that never answers", async () => {
  const lookup = (): Promise<string[]> => new Promise(() => {});

  const request = egressRequest(["ok.test"], { url: "http://ok.test/" }, { lookup, limitMs: 50 });

  await expect(request).rejects.toMatchObject({ details: { reason: "it was not done after 50 ms" } });
});

test("egressRequest() tells of each connection, the refused one too", async () => {
  const port = await serve((_, response) => response.writeHead(302, { Location: "http://evil.test/" }).end());
  const connections: EgressConnection[] = [];

  const request = egressRequest(
    [`127.0.0.1:${port}`],
    { url: `http://127.0.0.1:${port}/` },
    { onConnection: (connection) => connections.push(connection) },
  );

  await expect(request).rejects.toMatchObject({ code: "network-refused" });
  expect(connections).toMatchObject([
    { protocol: "request", host: "127.0.0.1", port, address: "127.0.0.1", allowed: true },
    { protocol: "request", host: "evil.test", port: 80, allowed: false, reason: expect.stringContaining("no rule") },
  ]);
  expect(connections[0]?.bytesUp).toBeGreaterThan(50);
  expect(connections[0]?.bytesDown).toBeGreaterThan(50);
});

test("egressRequest() rejects with what it was aborted with", async () => {
  const port = await serve(() => {});
  const abort = new AbortController();

  const request = egressRequest([`127.0.0.1:${port}`], { url: `http://127.0.0.1:${port}/` }, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error("enough")), 30);

  await expect(request).rejects.toThrow("enough");
});

test("egressRequest() checks the certificate against the name, whatever address it dials", async (context) => {
  needProgram(context, openssl);
  const { port, ca } = await serveSecurely("ok.test");
  const rules = [`ok.test:${port}`, `other.test:${port}`, `127.0.0.1:${port}`];

  const right = await egressRequest(rules, { url: `https://ok.test:${port}/` }, { lookup: toHere, ca });
  const wrong = egressRequest(rules, { url: `https://other.test:${port}/` }, { lookup: toHere, ca });
  const unknown = egressRequest(rules, { url: `https://ok.test:${port}/` }, { lookup: toHere });

  expect(Buffer.from(right.body).toString()).toBe("secure");
  await expect(wrong).rejects.toThrow(/other\.test/u);
  await expect(unknown).rejects.toThrow(/self-signed/u);
});

async function serve(listener: RequestListener): Promise<number> {
  return listen(createServer(listener));
}

async function serveSecurely(name: string): Promise<{ port: number; ca: string }> {
  const directory = await mkdtemp(join(tmpdir(), "kitbag-egress-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const [key, certificate] = [join(directory, "key"), join(directory, "certificate")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  execFileSync(
    openssl,
    [...words, "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, "-keyout", key, "-out", certificate],
    { stdio: "ignore" },
  );
  const ca = readFileSync(certificate, "utf8");
  const server = createHttpsServer({ key: readFileSync(key), cert: ca }, (_, response) => response.end("secure"));
  return { port: await listen(server), ca };
}

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
