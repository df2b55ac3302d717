import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import fc from "fast-check";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";

import { openEgress, type Egress, type EgressOptions } from "./open-egress.ts";

const directory = await mkdtemp(join(tmpdir(), "kitbag-egress-"));
afterAll(() => rm(directory, { recursive: true }));

test("openEgress() passes a request on without what is about the connection to it", async () => {
  const port = await serveHttp((request, response) => {
    response.writeHead(200, { "Keep-Alive": "timeout=5", "X-Own": "kept" });
    response.end(JSON.stringify([request.method, request.url, request.rawHeaders]));
  });
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(
    egress,
    `GET http://127.0.0.1:${port}/a?b=c HTTP/1.1\r\nHost: other.test\r\nProxy-Connection: keep-alive\r\n` +
      `Proxy-Authorization: Basic x\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nUpgrade: h2c\r\nTE: trailers\r\nX-Own: 2\r\n\r\n`,
  );

  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/u);
  expect(answer).toContain("X-Own: kept\r\n");
  expect(answer).not.toMatch(/keep-alive/iu);
  expect(answer).toContain(
    JSON.stringify(["GET", "/a?b=c", ["Host", `127.0.0.1:${port}`, "X-Own", "2", "Connection", "close"]]),
  );
});

test.for([
  ["a length", "Content-Length: 5\r\n\r\nhello"],
  ["chunks", "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"],
] as const)("openEgress() passes on a body with %s", async ([, rest]) => {
  const port = await serveHttp((request, response) => void text(request).then((body) => response.end(`<${body}>`)));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n${rest}`);

  expect(answer).toContain("<hello>");
});

test("openEgress() opens a tunnel that passes on whatever is said, also what was said too early", async () => {
  const port = await serve((socket) => socket.on("data", (bytes) => socket.end(`heard ${bytes.toString()}`)));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\nearly`);

  expect(answer).toBe("HTTP/1.1 200 Connected\r\n\r\nheard early");
});

test("openEgress() answers a client that has ended its side", async () => {
  const port = await serve((socket) => void text(socket).then((all) => socket.end(`all of ${all}`)));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\nit`, "end");

  expect(answer).toBe("HTTP/1.1 200 Connected\r\n\r\nall of it");
});

test("openEgress() passes on 16 MB in both directions unchanged", async () => {
  const port = await serve((socket) => socket.pipe(socket));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });
  const head = `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const body = Array.from({ length: 2 ** 20 }, (_, index) => index.toString(16).padStart(16, "0")).join("");

  const answer = await say(egress, head + body, "end");

  expect(answer === `HTTP/1.1 200 Connected\r\n\r\n${body}`).toBe(true);
});

test.for([
  ["an address", (port: number) => [1, 127, 0, 0, 1, port >> 8, port & 255]],
  ["a name", (port: number) => [3, 7, ...Buffer.from("OK.test"), port >> 8, port & 255]],
  ["an address as text", (port: number) => [3, 9, ...Buffer.from("127.0.0.1"), port >> 8, port & 255]],
] as const)("openEgress() speaks SOCKS 5 with %s", async ([, toWords]) => {
  const port = await serve((socket) => socket.on("data", (bytes) => socket.end(`heard ${bytes.toString()}`)));
  const egress = await open({ rules: [`127.0.0.1:${port}`, `ok.test:${port}`], lookup: async () => ["127.0.0.1"] });

  const answer = await say(egress, Buffer.from([5, 2, 2, 0, 5, 1, 0, ...toWords(port), ...Buffer.from("early")]));

  expect(Buffer.from(answer, "latin1")).toEqual(
    Buffer.from([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...Buffer.from("heard early")]),
  );
});

test("openEgress() speaks SOCKS 5 however slowly it comes", async () => {
  const port = await serve((socket) => socket.end("hello"));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });
  const client = connect(egress.socket);
  const answer = text(client);

  for (const byte of [5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]) {
    client.write(Buffer.from([byte]));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }

  expect(await answer).toMatch(/hello$/u);
});

test.for([
  ["a name that no rule has", [3, 9, ...Buffer.from("evil.test"), 0, 80], 2],
  ["an address that no rule has", [1, 127, 0, 0, 1, 0, 80], 2],
  ["IPv6 that no rule has", [4, ...Array.from({ length: 15 }, () => 0), 1, 0, 80], 2],
  ["IPv4 in IPv6", [4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1, 0, 80], 2],
  ["a zero byte in a name", [3, 13, ...Buffer.from("ok.test\0.evil"), 0, 80], 8],
  ["a percent sign in a name", [3, 9, ...Buffer.from("ok%2etest"), 0, 80], 8],
  ["a letter that is not ASCII", [3, 8, ...Buffer.from("ok.tést"), 0, 80], 8],
  ["an empty name", [3, 0, 0, 80], 8],
  ["port 0", [3, 7, ...Buffer.from("ok.test"), 0, 0], 1],
  ["an unknown kind of address", [9, 1, 1], 8],
  ["a name that leads to this machine", [3, 7, ...Buffer.from("ok.test"), 0, 80], 2],
] as const)("openEgress() refuses over SOCKS 5: %s", async ([, words, code]) => {
  const egress = await open({ rules: ["ok.test"], lookup: async () => ["127.0.0.1"] });

  const answer = await say(egress, Buffer.from([5, 1, 0, 5, 1, 0, ...words]), "end");

  expect([...Buffer.from(answer, "latin1")].slice(2, 4)).toEqual([5, code]);
  expect(egress.connections).toMatchObject([{ protocol: "socks", allowed: false }]);
});

test.for([
  ["to bind", [5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 5, 7]],
  ["datagrams", [5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80], [5, 0, 5, 7]],
  ["a password", [5, 1, 2], [5, 255]],
  ["no way to log in", [5, 0], [5, 255]],
] as const)("openEgress() does not offer over SOCKS 5: %s", async ([, words, start]) => {
  const egress = await open({ rules: ["127.0.0.1:80"] });

  const answer = await say(egress, Buffer.from(words));

  expect([...Buffer.from(answer, "latin1")].slice(0, start.length)).toEqual(start);
});

test.for([
  ["GET http://evil.test/ HTTP/1.1", 403],
  ["GET http://ok.test:81/ HTTP/1.1", 403],
  ["GET http://ok.test.evil.test/ HTTP/1.1", 403],
  ["GET http://evil.test:80/http://ok.test/ HTTP/1.1", 403],
  ["GET http://127.0.0.1/ HTTP/1.1", 403],
  ["GET http://[::1]/ HTTP/1.1", 403],
  ["GET http://[::ffff:127.0.0.1]/ HTTP/1.1", 403],
  ["CONNECT evil.test:443 HTTP/1.1", 403],
  ["CONNECT ok.test:22 HTTP/1.1", 403],
  ["CONNECT 169.254.169.254:80 HTTP/1.1", 403],
  ["GET http://ok.test@evil.test/ HTTP/1.1", 400],
  ["GET http://evil.test@ok.test/ HTTP/1.1", 400],
  ["GET http://evil.test\\@ok.test/ HTTP/1.1", 400],
  ["GET http://evil.test#ok.test/ HTTP/1.1", 400],
  ["GET http://ok.test%00.evil.test/ HTTP/1.1", 400],
  ["GET http://ok%2etest/ HTTP/1.1", 400],
  ["GET http://2130706433/ HTTP/1.1", 400],
  ["GET http://0x7f000001/ HTTP/1.1", 400],
  ["GET http://127.1/ HTTP/1.1", 400],
  ["GET http:///etc/passwd HTTP/1.1", 400],
  ["GET http://ok.test:/ HTTP/1.1", 400],
  ["GET http://ok.test:99999/ HTTP/1.1", 400],
  ["GET http://ok.test:80:81/ HTTP/1.1", 400],
  ["GET https://ok.test/ HTTP/1.1", 400],
  ["GET ftp://ok.test/ HTTP/1.1", 400],
  ["GET file:///etc/passwd HTTP/1.1", 400],
  ["GET /path HTTP/1.1", 400],
  ["GET * HTTP/1.1", 400],
  ["CONNECT ok.test HTTP/1.1", 400],
  ["CONNECT http://ok.test:443 HTTP/1.1", 400],
  ["CONNECT ok.test:443/path HTTP/1.1", 400],
  ["CONNECT user@ok.test:443 HTTP/1.1", 400],
  ["CONNECT ::1:443 HTTP/1.1", 400],
  ["CONNECT [fe80::1%25eth0]:443 HTTP/1.1", 400],
  ["CONNECT :443 HTTP/1.1", 400],
  ["GET http://b\u00fccher.test/ HTTP/1.1", 400],
  ["GET http://ok.test/\0 HTTP/1.1", 400],
  ["GET http://ok.test/ HTTP/9.9", 400],
  ["NONSENSE", 400],
] as const)("openEgress() refuses %j, and asks no name server", async ([line, status]) => {
  const lookups: string[] = [];
  const lookup = async (name: string): Promise<string[]> => {
    lookups.push(name);
    return ["127.0.0.1"];
  };
  const egress = await open({ rules: ["ok.test"], lookup });

  const answer = await say(egress, `${line}\r\nHost: ok.test\r\n\r\n`);

  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  expect(lookups).toEqual([]);
  expect(egress.connections).toMatchObject([{ allowed: false, reason: expect.any(String), bytesUp: 0, bytesDown: 0 }]);
});

test("openEgress() says which address is meant by a name of this machine, which no rule can give", async () => {
  const egress = await open({ rules: [] });

  const answer = await say(egress, "CONNECT localhost:8080 HTTP/1.1\r\nHost: x\r\n\r\n");

  expect(answer).toContain(
    'no rule allows localhost:8080; to allow it, add "127.0.0.1:8080" to the network permission and use that address',
  );
});

test("openEgress() says in its answer what would allow the connection", async () => {
  const egress = await open({ rules: [] });

  const answer = await say(egress, "CONNECT api.github.com:443 HTTP/1.1\r\nHost: x\r\n\r\n");

  expect(answer).toMatchInlineSnapshot(`
    "HTTP/1.1 403 no rule allows api.github.com:443; to allow it, add "api.github.com:443" to the network permission
    Content-Type: text/plain
    Content-Length: 107
    Connection: close

    Kitbag: no rule allows api.github.com:443; to allow it, add "api.github.com:443" to the network permission
    "
  `);
});

test("openEgress() lets nothing through and stays up, whatever bytes come", async () => {
  const port = await serveHttp((_, response) => response.end());
  const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { headerMs: 20 } });
  const start = fc.constantFrom(
    "",
    "\u0005\u0001\0",
    "\u0005\u0001\0\u0005\u0001\0\u0003",
    "GET http://",
    "CONNECT ",
    "POST http://x/ HTTP/1.1\r\n",
  );

  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (words, bytes) => {
      await say(egress, Buffer.concat([Buffer.from(words, "latin1"), bytes]), "end");
    }),
    { numRuns: 150 },
  );

  const answer = await say(egress, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /u);
  expect(egress.connections.slice(0, 150).filter(({ allowed }) => allowed)).toEqual([]);
});

test.for([0, 1, 7, 9, 10, 13, 32, 127, 128, 255])(
  "openEgress() survives the character %i in headers, names of headers and paths",
  async (code) => {
    const port = await serveHttp((_, response) => response.end());
    const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { headerMs: 100 } });
    const odd = String.fromCodePoint(code);
    const heads = [
      `/ HTTP/1.1\r\nHost: x\r\nX-A: a${odd}b`,
      `/ HTTP/1.1\r\nHost: x\r\nX${odd}A: b`,
      `/a${odd}b HTTP/1.1\r\nHost: x`,
    ];

    const answers = await Promise.all(
      heads.map((head) => say(egress, Buffer.from(`GET http://127.0.0.1:${port}${head}\r\n\r\n`, "latin1"))),
    );

    const [value, name, path] = answers.map((answer) => answer.slice(9, 12));
    expect(value).toBe([9, 32, 128, 255].includes(code) ? "200" : "400");
    expect([name, path]).toEqual(["400", "400"]);
  },
);

test.for([
  ["two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"],
  ["two equal lengths", "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"],
  ["a list of lengths", "Content-Length: 5, 5\r\n\r\nhello"],
  ["a length with a sign", "Content-Length: +5\r\n\r\nhello"],
  ["length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"],
  ["chunks that are not last", "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"],
  ["an unknown encoding", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
  ["a space before the colon", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"],
  ["a folded header", "X-One: 1\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a zero byte in a header", "X-One: 1\0\r\n\r\n"],
  ["a lonely carriage return", "X-One: 1\rTransfer-Encoding: chunked\r\n\r\n"],
  ["a header without a name", ": 1\r\n\r\n"],
  ["no end to a line", "X-One: 1\nX-Two: 2\n\n"],
] as const)("openEgress() refuses a request with %s", async ([, rest]) => {
  let requests = 0;
  const port = await serveHttp((_, response) => {
    requests++;
    response.end();
  });
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n${rest}`);

  expect(answer).toMatch(/^HTTP\/1\.1 400 /u);
  expect(requests).toBe(0);
});

test("openEgress() never takes a second request from a connection", async () => {
  const seen: (string | undefined)[] = [];
  const port = await serveHttp((request, response) => {
    seen.push(request.url);
    response.end("answer");
  });
  const egress = await open({ rules: [`127.0.0.1:${port}`] });
  const request = (path: string): string => `GET http://127.0.0.1:${port}${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  const answer = await say(egress, request("/first") + request("/second"));

  expect(seen).toEqual(["/first"]);
  expect(answer.match(/answer/gu)).toHaveLength(1);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n/u);
});

test("openEgress() hangs up on a client that says nonsense while it is answered", async () => {
  const port = await serve((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nstart"));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });
  const client = connect(egress.socket).on("error", () => {});
  const answer = text(client).catch(() => "");

  client.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
  await vi.waitFor(() => expect(client.bytesRead).toBeGreaterThan(10));
  client.write("nonsense\r\n\r\n");

  expect(await answer).not.toContain("400");
  await vi.waitFor(() => expect(egress.connections).toMatchObject([{ protocol: "http", allowed: true }]));
});

test.for([
  ["127.0.0.1", "a loopback address"],
  ["10.1.2.3", "a private address"],
  ["169.254.169.254", "a link-local or metadata address"],
  ["::ffff:169.254.169.254", "a link-local or metadata address in the form of IPv6"],
  ["64:ff9b::a00:1", "a private address in the form of IPv6"],
  ["2002:7f00:1::", "a loopback address in the form of IPv6"],
  ["::1", "a loopback address"],
  ["fd00::1", "a private address"],
] as const)("openEgress() does not follow a name to %s", async ([address, what]) => {
  const egress = await open({ rules: ["ok.test"], lookup: async () => [address] });

  const answer = await say(egress, "CONNECT ok.test:443 HTTP/1.1\r\nHost: x\r\n\r\n");

  expect(answer).toMatch(/^HTTP\/1\.1 403 /u);
  expect(egress.connections).toMatchObject([{ reason: expect.stringContaining(`the name leads to ${what};`) }]);
});

test("openEgress() looks a name up once for each connection, and dials what it checked", async () => {
  const port = await serve((socket) => socket.end("inside"));
  const answers = [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.2"]];
  let lookups = 0;
  const lookup = async (): Promise<string[]> => answers[lookups++] ?? [];
  const egress = await open({ rules: [`ok.test:${port}`, `127.0.0.1:${port}`], lookup });
  const request = `CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`;

  const first = await say(egress, request);
  const lookupsOfFirst = lookups;
  const second = await say(egress, request);
  const third = await say(egress, request);

  expect(lookupsOfFirst).toBe(1);
  expect([first, second, third].map((answer) => answer.slice(9, 12))).toEqual(["200", "403", "403"]);
  expect(egress.connections.map(({ address }) => address)).toEqual(["127.0.0.1", undefined, undefined]);
});

test("openEgress() dials only those addresses of a name that are allowed", async () => {
  const port = await serve((socket) => socket.end("inside"));
  const lookup = async (): Promise<string[]> => ["169.254.169.254", "127.0.0.2", "127.0.0.1", "::1"];
  const egress = await open({ rules: [`ok.test:${port}`, `127.0.0.1:${port}`], lookup });

  const answer = await say(egress, `CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);

  expect(answer).toMatch(/inside$/u);
  await vi.waitFor(() =>
    expect(egress.connections).toMatchObject([{ host: "ok.test", address: "127.0.0.1", allowed: true }]),
  );
});

test("openEgress() tries the next address when one does not answer", async () => {
  const port = await serve((socket) => socket.end("inside"));
  const rules = [`ok.test:${port}`, `127.0.0.1:${port}`, `127.0.0.9:${port}`];
  const egress = await open({ rules, lookup: async () => ["127.0.0.9", "127.0.0.1"] });

  const answer = await say(egress, `CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);

  expect(answer).toMatch(/inside$/u);
});

test.for([
  ["rejects", () => Promise.reject(new Error("getaddrinfo ENOTFOUND"))],
  ["answers with nothing", async () => []],
  ["answers with no address", async () => ["not an address", "127.1"]],
  ["never answers", () => new Promise<string[]>(() => {})],
] as const)("openEgress() answers 502 when the resolver %s", async ([, lookup]) => {
  const egress = await open({ rules: ["ok.test"], lookup, limits: { connectMs: 50 } });

  const answer = await say(egress, "GET http://ok.test/ HTTP/1.1\r\nHost: x\r\n\r\n");

  expect(answer).toMatch(/^HTTP\/1\.1 502 the name has no address/u);
});

test("openEgress() looks up at most two names at the same time", async () => {
  let running = 0;
  let most = 0;
  const lookup = async (): Promise<string[]> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return ["127.0.0.1"];
  };
  const egress = await open({ rules: ["*.ok.test"], lookup });

  await Promise.all(
    Array.from({ length: 10 }, (_, index) => say(egress, `CONNECT a${index}.ok.test:443 HTTP/1.1\r\nHost: x\r\n\r\n`)),
  );

  expect(most).toBe(2);
  expect(egress.connections).toHaveLength(10);
});

test("openEgress() answers 502 when nobody listens there", async () => {
  const port = await freePort();
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);

  expect(answer).toMatch(/^HTTP\/1\.1 502 cannot connect: /u);
});

test.for([
  ["speaks no HTTP", "nonsense\r\n\r\n"],
  ["says two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  ["has too large a head", `HTTP/1.1 200 OK\r\nX-Large: ${"x".repeat(5000)}\r\n\r\n`],
  ["hangs up", ""],
] as const)("openEgress() answers 502 when the other side %s", async ([, words]) => {
  const port = await serve((socket) => socket.end(words));
  const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { headerBytes: 4096 } });

  const answer = await say(egress, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);

  expect(answer).toMatch(/^HTTP\/1\.1 502 /u);
  expect(egress.connections).toMatchObject([{ allowed: true, reason: expect.any(String) }]);
});

test("openEgress() does not make half an answer look whole", async () => {
  const port = await serve((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    setTimeout(() => socket.destroy(), 20);
  });
  const egress = await open({ rules: [`127.0.0.1:${port}`] });

  const answer = await say(egress, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);

  expect(answer).toContain("half");
  expect(answer).not.toMatch(/\r\n0\r\n\r\n$/u);
});

test("openEgress() answers 431 to a head that is too large", async () => {
  const egress = await open({ rules: ["ok.test"], limits: { headerBytes: 1024 } });

  const answer = await say(egress, `GET http://ok.test/ HTTP/1.1\r\nHost: x\r\nX-Large: ${"x".repeat(2000)}\r\n\r\n`);

  expect(answer).toMatch(/^HTTP\/1\.1 431 the head is larger than 1024 bytes/u);
});

test.for([
  ["nothing", ""],
  ["half a line", "GET http://ok"],
  ["half a head", "GET http://ok.test/ HTTP/1.1\r\nHost: x\r\n"],
  ["half of SOCKS", Buffer.from([5, 1, 0, 5, 1])],
] as const)("openEgress() cuts a client that says %s and then waits", async ([, words]) => {
  const egress = await open({ rules: ["ok.test"], limits: { headerMs: 60 } });

  const answer = await say(egress, words);

  expect(answer.length).toBeLessThanOrEqual(2);
  expect(egress.connections).toMatchObject([{ allowed: false, reason: "cut: nothing was asked for within 60 ms" }]);
});

test("openEgress() cuts a client that sends its head byte by byte", async () => {
  const egress = await open({ rules: ["ok.test"], limits: { headerMs: 100 } });
  const client = connect(egress.socket).on("error", () => {});
  const timer = setInterval(() => client.write("x"), 5);
  onTestFinished(() => clearInterval(timer));

  client.write("GET http://ok.test/ HTTP/1.1\r\nX-Slow: ");
  await text(client).catch(() => "");

  expect(egress.connections).toMatchObject([{ reason: "cut: nothing was asked for within 100 ms" }]);
});

test.for([
  ["tunnel", (port: number) => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ["request", (port: number) => `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`],
] as const)("openEgress() cuts a %s that is silent", async ([, toRequest]) => {
  const ended: string[] = [];
  const port = await serve((socket) => socket.resume().on("end", () => ended.push("closed")));
  const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { idleMs: 60 } });

  await say(egress, toRequest(port));

  await vi.waitFor(() => expect(ended).toEqual(["closed"]));
  await vi.waitFor(() => expect(egress.connections).toHaveLength(1));
  expect(egress.connections).toMatchObject([{ allowed: true, reason: "cut: silent for 60 ms" }]);
});

test.for([
  ["down a tunnel", (port: number) => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ["down a request", (port: number) => `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`],
  ["up a tunnel", (port: number) => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n${"x".repeat(900_000)}`],
  [
    "up a request",
    (port: number) =>
      `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n${"x".repeat(900_000)}`,
  ],
] as const)("openEgress() cuts what goes %s beyond its bytes", async ([name, toRequest]) => {
  const port = await serve((socket) => {
    if (name.startsWith("down")) socket.write(`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(900_000)}`);
    else socket.resume();
  });
  const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { bytes: 300_000 } });

  await say(egress, toRequest(port));

  await vi.waitFor(() => expect(egress.connections).toHaveLength(1));
  expect(egress.connections).toMatchObject([{ allowed: true, reason: "cut: more than 300000 bytes went through" }]);
});

test("openEgress() counts the bytes of all connections together", async () => {
  const port = await serve((socket) => socket.end("x".repeat(60_000)));
  const egress = await open({ rules: [`127.0.0.1:${port}`], limits: { bytes: 100_000 } });
  const request = `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`;

  const first = await say(egress, request);
  const second = await say(egress, request);

  expect(first).toHaveLength(60_000 + "HTTP/1.1 200 Connected\r\n\r\n".length);
  expect(second.length).toBeLessThan(60_000);
});

test("openEgress() refuses more connections at a time than its limit", async () => {
  const egress = await open({ rules: [], limits: { connections: 3 } });
  const clients = Array.from({ length: 3 }, () => connect(egress.socket).on("error", () => {}));
  await Promise.all(clients.map((client) => new Promise((resolve) => client.once("connect", resolve))));

  const answer = await say(egress, "GET http://ok.test/ HTTP/1.1\r\nHost: x\r\n\r\n");

  expect(answer).toBe("");
  expect(egress.connections).toMatchObject([{ allowed: false, reason: "refused: 3 connections are open" }]);
});

test("openEgress() refuses more connections in its life than its limit", async () => {
  const egress = await open({ rules: [], limits: { totalConnections: 2 } });
  const request = "GET http://ok.test/ HTTP/1.1\r\nHost: x\r\n\r\n";

  const answers = [await say(egress, request), await say(egress, request), await say(egress, request)];

  expect(answers.map((answer) => answer.slice(9, 12))).toEqual(["403", "403", ""]);
});

test("openEgress() tells of each connection when it ended", async () => {
  const port = await serve((socket) => socket.resume().end("12345"));
  const onConnection = vi.fn<NonNullable<EgressOptions["onConnection"]>>();
  const egress = await open({ rules: [`127.0.0.1:${port}`], onConnection });

  await say(egress, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\nabc`, "end");
  await say(egress, "GET http://evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n");

  await vi.waitFor(() => expect(onConnection).toHaveBeenCalledTimes(2));
  expect(onConnection.mock.calls).toEqual([
    [
      {
        protocol: "connect",
        host: "127.0.0.1",
        port,
        address: "127.0.0.1",
        allowed: true,
        bytesUp: 3,
        bytesDown: 5,
        startedAt: expect.any(Number),
        durationMs: expect.any(Number),
      },
    ],
    [
      {
        protocol: "http",
        host: "evil.test",
        port: 80,
        allowed: false,
        reason: 'no rule allows evil.test:80; to allow it, add "evil.test:80" to the network permission',
        bytesUp: 0,
        bytesDown: 0,
        startedAt: expect.any(Number),
        durationMs: expect.any(Number),
      },
    ],
  ]);
});

test("openEgress() hangs up on the other side when the client leaves", async () => {
  const ended: string[] = [];
  const port = await serve((socket) => socket.resume().on("end", () => socket.end(() => ended.push("closed"))));
  const egress = await open({ rules: [`127.0.0.1:${port}`] });
  const client = connect(egress.socket);

  client.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await new Promise((resolve) => client.once("data", resolve));
  client.destroy();

  await vi.waitFor(() => expect(ended).toEqual(["closed"]));
  await vi.waitFor(() => expect(egress.connections).toMatchObject([{ allowed: true }]));
});

test("openEgress() survives a client that leaves while a name is looked up", async () => {
  const port = await serve((socket) => socket.resume());
  let answer: ((addresses: string[]) => void) | undefined;
  const asked = vi.fn<() => Promise<string[]>>(() => new Promise((resolve) => (answer = resolve)));
  const egress = await open({ rules: [`ok.test:${port}`, `127.0.0.1:${port}`], lookup: asked });
  const client = connect(egress.socket);

  client.write(`CONNECT ok.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  client.destroy();
  await new Promise((resolve) => client.once("close", resolve));
  answer?.(["127.0.0.1"]);

  await vi.waitFor(() => expect(egress.connections).toHaveLength(1));
});

test("openEgress() ends all connections and removes its socket when it is closed", async () => {
  const ended: string[] = [];
  const port = await serve((socket) => socket.resume().on("end", () => ended.push("closed")));
  const egress = await openEgress({ rules: [`127.0.0.1:${port}`], directory });
  const client = connect(egress.socket).on("error", () => {});
  client.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await new Promise((resolve) => client.once("data", resolve));

  await egress.close();

  await vi.waitFor(() => expect([ended, client.destroyed]).toEqual([["closed"], true]));
  expect(existsSync(egress.socket)).toBe(false);
});

test("openEgress() refuses a rule that is wrong before it opens anything", async () => {
  const opened = openEgress({ rules: ["https://ok.test"], directory });

  await expect(opened).rejects.toMatchObject({ code: "network-rule-invalid" });
});

test("openEgress() says so when there can be no socket", async () => {
  const opened = openEgress({ rules: [], directory: join(directory, "x".repeat(120)) });

  await expect(opened).rejects.toMatchObject({ code: "sandbox-failed", details: { sandbox: "egress" } });
});

async function open(options: Omit<EgressOptions, "directory">): Promise<Egress> {
  const egress = await openEgress({ ...options, directory });
  onTestFinished(() => egress.close());
  return egress;
}

/** Sends words through the proxy and answers with all that comes back. */
async function say(egress: Egress, words: string | Uint8Array, then?: "end"): Promise<string> {
  const client = connect(egress.socket);
  const chunks: Buffer[] = [];
  client.on("data", (chunk) => chunks.push(chunk)).on("error", () => {});
  client.write(words);
  if (then === "end") client.end();
  await new Promise((resolve) => client.once("close", resolve));
  return Buffer.concat(chunks).toString("latin1");
}

function serveHttp(listener: RequestListener): Promise<number> {
  return listen(createHttpServer(listener));
}

function serve(listener: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on("error", () => {}));
    listener(socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return listen(server);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
