import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { checkAddress, isInnerUrl, listInnerHost, findRefusal, guardedFetch } from "./guarded-fetch.ts";

const publicAddress = "93.184.216.34";

test.for([
  ["127.0.0.1", "https://127.0.0.1/x"],
  ["another address of 127/8", "https://127.8.9.10/x"],
  ["0.0.0.0", "https://0.0.0.0/x"],
  ["::1", "https://[::1]/x"],
  ["::", "https://[::]/x"],
  ["::ffff:127.0.0.1", "https://[::ffff:127.0.0.1]/x"],
  ["::ffff:7f00:1", "https://[::ffff:7f00:1]/x"],
  ["the metadata address", "https://169.254.169.254/latest/meta-data/"],
  ["fe80::1", "https://[fe80::1]/x"],
  ["fd00::1", "https://[fd00::1]/x"],
  ["10/8", "https://10.1.2.3/x"],
  ["172.16/12", "https://172.31.255.255/x"],
  ["192.168/16", "https://192.168.0.1/x"],
  ["100.64/10", "https://100.64.0.1/x"],
  ["a decimal number", "https://2130706433/x"],
  ["octal numbers", "https://0177.0.0.1/x"],
  ["hexadecimal numbers", "https://0x7f.0.0.1/x"],
  ["a short form", "https://127.1/x"],
  ["wide digits", "https://１２７.0.0.1/x"],
  ["localhost", "https://localhost/x"],
  ["localhost with a dot", "https://localhost./x"],
  ["a name below localhost", "https://a.localhost/x"],
  ["a name that leads to loopback", "https://inner.test/x"],
] as const)("R5: guardedFetch() does not reach %s", async ([, address]) => {
  const thrown: unknown = await guardedFetch({ lookup: answer("127.0.0.1") })(address).catch((cause: unknown) => cause);

  expect(findRefusal(thrown)).toMatchObject({ code: "network-refused" });
});

test.for([
  ["127.0.0.1"],
  ["::1"],
  ["::ffff:127.0.0.1"],
  ["169.254.169.254"],
  ["fe80::1"],
  ["10.0.0.1"],
  ["100.64.0.1"],
  ["fe80::1%eth0"],
  ["not an address"],
] as const)("R5: guardedFetch() does not reach a name that leads to %s", async ([found]) => {
  const thrown: unknown = await guardedFetch({ lookup: answer(found) })("https://inner.test/x").catch(
    (cause: unknown) => cause,
  );

  expect(findRefusal(thrown)).toMatchObject({ code: "network-refused" });
});

test("R5: guardedFetch() asks no server behind a name that leads to this machine", async () => {
  const { port, seen } = await serve((_request, response) => void response.end("secret"));
  const guarded = guardedFetch({ plainHosts: [`inner.test:${port}`], lookup: answer("127.0.0.1") });

  await expect(guarded(`http://inner.test:${port}/x`)).rejects.toThrow("it is a loopback address");
  expect(seen).toEqual([]);
});

test("R5: guardedFetch() takes no name or password in a URL", async () => {
  const { port, seen } = await serve((_request, response) => void response.end("secret"));
  const guarded = guardedFetch({ allowHosts: [`127.0.0.1:${port}`] });

  await expect(guarded(`http://example.com@127.0.0.1:${port}/x`)).rejects.toBeInstanceOf(TypeError);
  expect(seen).toEqual([]);
});

test("R5: guardedFetch() follows no redirect, and shows it to who asked for it", async () => {
  const inner = await serve((_request, response) => void response.end("secret"));
  const outer = await serve(
    (_request, response) => void response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/x` }).end(),
  );
  const guarded = guardedFetch({ allowHosts: [`127.0.0.1:${outer.port}`] });

  const shown = await guarded(`http://127.0.0.1:${outer.port}/x`, { redirect: "manual" });

  expect(shown.status).toBe(302);
  await expect(guarded(`http://127.0.0.1:${outer.port}/x`)).rejects.toThrow(
    `leads on to http://127.0.0.1:${inner.port}`,
  );
  expect(inner.seen).toEqual([]);
});

test("R5: guardedFetch() connects to what was checked, and checks again for each new connection", async () => {
  const { port, seen } = await serve((_request, response) => void response.setHeader("connection", "close").end("one"));
  // The second address is not allowed: what the name leads to changed after it was checked.
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  const lookup = (): Promise<string[]> => Promise.resolve(answers.shift() ?? []);
  const guarded = guardedFetch({ allowHosts: [`127.0.0.1:${port}`], plainHosts: [`inner.test:${port}`], lookup });
  const url = `http://inner.test:${port}/x`;

  const first = await guarded(url);

  expect(await first.text()).toBe("one");
  expect(answers).toEqual([["127.0.0.2"]]);
  await expect(guarded(url)).rejects.toThrow("it is a loopback address");
  expect(seen).toHaveLength(1);
});

test("R5: checkAddress() refuses a name that leads to this machine the second time", async () => {
  const answers = [[publicAddress], ["127.0.0.1"]];
  const reach = { lookup: () => Promise.resolve(answers.shift() ?? []) };
  const url = new URL("https://rebind.test/x");

  expect(await checkAddress(url, reach)).toMatchObject({ addresses: [publicAddress] });
  await expect(checkAddress(url, reach)).rejects.toMatchObject({ code: "network-refused" });
});

test("guardedFetch() uses an open connection again, without a second lookup", async () => {
  const { port, server } = await serve((_request, response) => void response.end("hello"));
  let [connections, lookups] = [0, 0];
  server.on("connection", () => (connections += 1));
  const lookup = (): Promise<string[]> => {
    lookups += 1;
    return Promise.resolve(["127.0.0.1"]);
  };
  const guarded = guardedFetch({ allowHosts: [`inner.test:${port}`], lookup });

  for (let count = 0; count < 3; count += 1) await (await guarded(`http://inner.test:${port}/x`)).text();

  expect({ connections, lookups }).toEqual({ connections: 1, lookups: 1 });
});

test("guardedFetch() sends and answers as fetch does", async () => {
  const { port, seen } = await serve((request, response) => {
    if (request.method === "POST") response.writeHead(201, { "x-a": "1" }).end(JSON.stringify({ ok: true }));
    else response.writeHead(204).end();
  });
  const guarded = guardedFetch({ allowHosts: [`127.0.0.1:${port}`] });
  const url = `http://127.0.0.1:${port}/a?b=c`;

  const posted = await guarded(url, { method: "POST", headers: { "x-b": "2" }, body: new URLSearchParams({ d: "é" }) });
  const empty = await guarded(new URL(url), { method: "DELETE" });

  expect(posted).toMatchObject({ status: 201, url, ok: true });
  expect(posted.headers.get("x-a")).toBe("1");
  expect(await posted.json()).toEqual({ ok: true });
  expect(empty).toMatchObject({ status: 204, body: null });
  expect(seen).toMatchObject([
    {
      path: "/a?b=c",
      body: "d=%C3%A9",
      headers: { "x-b": "2", "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
    },
    { path: "/a?b=c", body: "" },
  ]);
});

test("guardedFetch() hands over a stream piece by piece, and ends it when it is told to", async () => {
  const { port } = await serve((_request, response) => void response.write("first"));
  const controller = new AbortController();
  const guarded = guardedFetch({ allowHosts: [`127.0.0.1:${port}`] });
  const response = await guarded(`http://127.0.0.1:${port}/x`, { signal: controller.signal });
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();

  const { value } = await reader.read();
  controller.abort();

  expect(new TextDecoder().decode(value)).toBe("first");
  await expect(reader.read()).rejects.toMatchObject({ name: "AbortError" });
});

test("guardedFetch() rejects with the reason of the signal, or with what the connection failed of", async () => {
  const { port, server } = await serve(() => {});
  const guarded = guardedFetch({ allowHosts: ["127.0.0.1"] });
  const url = `http://127.0.0.1:${port}/x`;
  const controller = new AbortController();
  server.once("request", () => controller.abort(new Error("enough")));

  await expect(guarded(url, { signal: controller.signal })).rejects.toThrow("enough");
  server.close();
  server.closeAllConnections();
  await expect(guarded(url)).rejects.toMatchObject({ name: "TypeError", cause: { code: "ECONNREFUSED" } });
});

test.for([
  ["http://127.0.0.1/x", ["127.0.0.1:80"]],
  ["https://localhost./x", ["localhost:443"]],
  ["http://[::1]:8080/x", ["[::1]:8080"]],
  ["http://10.0.0.5:8080/x", ["10.0.0.5:8080"]],
  ["https://example.com/x", []],
  ["https://1.1.1.1/x", []],
] as const)("listInnerHost() lists of %s %j", ([text, hosts]) => {
  const url = new URL(text);

  expect(listInnerHost(url)).toEqual(hosts);
  expect(isInnerUrl(url)).toBe(hosts.length > 0);
});

function answer(...found: readonly string[]): () => Promise<readonly string[]> {
  return () => Promise.resolve(found);
}

interface Seen {
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

async function serve(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly port: number; readonly seen: Seen[]; readonly server: Server }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString("utf8")));
    request.on("end", () => {
      seen.push({ path: request.url, headers: request.headers, body });
      respond(request, response);
    });
  });
  // All of 127/8, so that only the check keeps a connection away.
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, seen, server };
}
