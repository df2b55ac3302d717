import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import { checkAddress } from "./guarded-fetch.ts";
import { download, type DownloadOptions } from "./download.ts";

type Answer = (response: ServerResponse) => unknown;

const answers: readonly (readonly [name: string, answer: Answer, reason: string])[] = [
  ["a status", (response) => response.writeHead(404).end(), "it answered with status 404"],
  ["a login", (response) => response.writeHead(401).end(), "it wants to know who asks"],
  ["too much, as it says", (response) => response.end("x".repeat(2000)), "it is larger than 1000 bytes"],
  ["too much, piece by piece", flood, "it is larger than 1000 bytes"],
  ["less than it says", cutOff, "aborted"],
  ["nothing, ever", () => {}, "it took longer than 500 ms"],
  ["a drop now and then", drip, "it took longer than 500 ms"],
  ["redirects without end", (response) => response.writeHead(302, { location: "/again" }).end(), "more than 5 times"],
  [
    "a redirect to a file",
    (response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
    "it leads on to file:",
  ],
];

const limits = { maxBytes: 1000, limitMs: 5000 };

test("download() fetches a file from a host that is allowed", async () => {
  const { url, host } = await serve((_request, response) => void response.end("hello"));

  const bytes = await download(url, { ...limits, allowHosts: [host] });

  expect(bytes.toString("utf8")).toBe("hello");
});

test.for([
  ["http://example.com/x", ["93.184.216.34"], "http is not encrypted; use https, or allow the host"],
  ["https://127.0.0.1/x", [], "it is a loopback address; allow the host if that is meant"],
  ["https://[::1]/x", [], "it is a loopback address"],
  ["https://[::ffff:127.0.0.1]/x", [], "it is a loopback address in the form of IPv6"],
  ["https://2130706433/x", [], "it is a loopback address"],
  ["https://0x7f.1/x", [], "it is a loopback address"],
  ["https://10.0.0.1/x", [], "it is a private address"],
  ["https://169.254.169.254/latest", [], "it is a link-local or metadata address"],
  ["https://100.64.0.1/x", [], "it is a shared address"],
  ["https://evil.example/x", ["127.0.0.1"], "it is a loopback address"],
  ["https://evil.example/x", ["192.168.1.1", "10.0.0.1"], "it is a private address"],
  ["https://evil.example/x", [], "the name has no address"],
  ["https://localhost./x", ["127.0.0.1"], "it is a loopback address"],
] as const)("R5: checkAddress() refuses %s when it leads to %j", async ([text, addresses, reason]) => {
  const checking = checkAddress(new URL(text), { lookup: () => Promise.resolve(addresses) });

  await expect(checking).rejects.toMatchObject({
    code: "network-refused",
    details: { reason: expect.stringContaining(reason) as string },
  });
});

test("R5: checkAddress() takes of several addresses only those that are public", async () => {
  const lookup = (): Promise<string[]> => Promise.resolve(["10.0.0.1", "93.184.216.34"]);

  const { addresses } = await checkAddress(new URL("https://example.com"), { lookup });

  expect(addresses).toEqual(["93.184.216.34"]);
});

test("checkAddress() allows a host with its port, and not another port", async () => {
  const lookup = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);
  const reach = { lookup, allowHosts: ["skills.test:8080"] };

  await expect(checkAddress(new URL("http://skills.test:8080/x"), reach)).resolves.toMatchObject({ port: 8080 });
  await expect(checkAddress(new URL("http://skills.test:8081/x"), reach)).rejects.toMatchObject({
    code: "network-refused",
  });
});

test("R5: download() checks each address that it is led on to", async () => {
  let isReached = false;
  const inner = await serve((_request, response) => {
    isReached = true;
    response.end("secret");
  });
  const { url, host } = await serve(
    (_request, response) => void response.writeHead(302, { location: inner.url.href }).end(),
  );

  const direct = download(url, { ...limits, allowHosts: [host] });
  const allowed = download(url, { ...limits, allowHosts: [host, inner.host] });

  await expect(direct).rejects.toMatchObject({ code: "network-refused" });
  expect((await allowed).toString("utf8")).toBe("secret");
  expect(isReached).toBe(true);
});

test("R5: download() looks a name up once, and connects to what was checked", async () => {
  const { url } = await serve((_request, response) => void response.end("hello"));
  let lookups = 0;
  const named = new URL(url.href.replace("127.0.0.1", "skills.test"));
  const lookup = (): Promise<string[]> => {
    lookups += 1;
    return Promise.resolve(["127.0.0.1"]);
  };

  await download(named, { ...limits, lookup, allowHosts: ["skills.test"] });

  expect(lookups).toBe(1);
});

test.for(answers)("download() fails in words when a server answers with %s", async ([, answer, reason]) => {
  const { url, host } = await serve((_request, response) => answer(response));

  // Only the answers that never end need the short limit; a busy machine needs longer for the others.
  const limitMs = reason.includes("500 ms") ? 500 : 60_000;
  const failing = download(url, { maxBytes: 1000, limitMs, allowHosts: [host] });

  await expect(failing).rejects.toMatchObject({
    code: "network-failed",
    message: expect.stringContaining(reason) as string,
  });
});

test("download() gives name and password to the host they are for, and shows them nowhere", async () => {
  const password = ["open", "sesame"].join("-");
  const seen: (string | undefined)[] = [];
  const other = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  const { url, host } = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(302, { location: other.url.href }).end();
  });
  url.username = "ada";
  url.password = password;
  const options: DownloadOptions = { ...limits, allowHosts: [host, other.host] };

  const message = await download(url, options).catch(String);

  expect(seen).toEqual([`Basic ${Buffer.from(`ada:${password}`).toString("base64")}`, undefined]);
  expect(message).not.toContain(password);
});

test("download() stops when it is told to", async () => {
  const { url, host } = await serve(() => {});
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 50);

  await expect(download(url, { ...limits, allowHosts: [host], signal: controller.signal })).rejects.toThrow("enough");
});

function flood(response: ServerResponse): void {
  response.write("x".repeat(600));
  response.end("x".repeat(600));
}

function cutOff(response: ServerResponse): void {
  response.writeHead(200, { "content-length": "500" }).write("x");
  setTimeout(() => response.destroy(), 50);
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write("x"), 50);
  response.on("close", () => clearInterval(timer));
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: URL; readonly host: string }> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: new URL(`http://${host}/file`), host };
}
