import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { createFolder } from "../../../test/support/temporary-folder.ts";

import { downloadImage, type DownloadOptions } from "./download-image.ts";

const openssl = "openssl";
const usual: DownloadOptions = { maxBytes: 1000, limitMs: 5000, allow: [] };

test("downloadImage() answers with the bytes, from an address that is allowed", async () => {
  const port = await serve((_, response) => response.setHeader("content-type", "image/png").end("bytes"));

  const bytes = await downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

  expect(Buffer.from(bytes).toString()).toBe("bytes");
});

test.for([
  "http://127.0.0.1/x.png",
  "http://127.1/x.png",
  "http://2130706433/x.png",
  "http://0x7f000001/x.png",
  "http://[::1]/x.png",
  "http://[::ffff:127.0.0.1]/x.png",
  "http://[::ffff:a9fe:a9fe]/x.png",
  "http://10.0.0.1/x.png",
  "http://192.168.1.1/x.png",
  "http://172.16.0.1/x.png",
  "http://100.64.0.1/x.png",
  "http://169.254.169.254/latest/meta-data/",
  "http://0.0.0.0/x.png",
  "http://[fd00::1]/x.png",
  "http://[fe80::1]/x.png",
  "http://localhost/x.png",
  "http://a.localhost/x.png",
  "http://localhost./x.png",
])("downloadImage() does not ask %s", async (url) => {
  const lookups: string[] = [];
  const lookup = async (name: string): Promise<string[]> => {
    lookups.push(name);
    return ["127.0.0.1"];
  };

  const bytes = downloadImage(new URL(url), { ...usual, lookup });

  await expect(bytes).rejects.toMatchObject({ code: "network-refused" });
  expect(lookups).toEqual([]);
});

test.for(["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1"])(
  "downloadImage() does not follow a name that leads to %s",
  async (address) => {
    const bytes = downloadImage(new URL("http://pictures.test/x.png"), { ...usual, lookup: async () => [address] });

    await expect(bytes).rejects.toMatchObject({ code: "network-refused" });
  },
);

test("downloadImage() connects to the address that was checked, though the name has another one a moment later", async () => {
  const port = await serve((request, response) =>
    response.setHeader("content-type", "image/png").end(request.headers.host),
  );
  const answers = [["127.0.0.1"], ["192.0.2.1"]];
  const lookup = async (): Promise<string[]> => answers.shift() ?? [];

  const bytes = await downloadImage(new URL(`http://rebind.test:${port}/x.png`), {
    ...usual,
    lookup,
    allow: [`127.0.0.1:${port}`],
  });

  expect(Buffer.from(bytes).toString()).toBe(`rebind.test:${port}`);
  expect(answers).toEqual([["192.0.2.1"]]);
});

test.for(["http://127.0.0.1:1/x.png", "http://[::1]:1/x.png", "http://169.254.169.254/", "http://localhost:1/"])(
  "downloadImage() does not follow a redirect to %s",
  async (location) => {
    const port = await serve((_, response) => response.writeHead(302, { location }).end());

    const bytes = downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

    await expect(bytes).rejects.toMatchObject({ code: "network-refused" });
  },
);

test.for(["file:///etc/passwd", "ftp://127.0.0.1/x", "data:image/png;base64,AAAA"])(
  "downloadImage() does not follow a redirect to %s",
  async (location) => {
    const port = await serve((_, response) => response.writeHead(302, { location }).end());

    const bytes = downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

    await expect(bytes).rejects.toMatchObject({ code: "network-failed" });
  },
);

test("downloadImage() follows a redirect to where it may ask", async () => {
  const port = await serve((request, response) => {
    if (request.url === "/x.png") response.writeHead(301, { location: "/y.png" }).end();
    else response.setHeader("content-type", "image/png").end(request.url);
  });

  const bytes = await downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

  expect(Buffer.from(bytes).toString()).toBe("/y.png");
});

test("downloadImage() follows a redirect to another name, and checks that one too", async () => {
  const port = await serve((request, response) => {
    const { host = "" } = request.headers;
    if (host.startsWith("one.test")) response.writeHead(302, { location: `http://two.test:${port}/y.png` }).end();
    else response.setHeader("content-type", "image/png").end(host);
  });
  const lookups: string[] = [];
  const lookup = async (name: string): Promise<string[]> => {
    lookups.push(name);
    return ["127.0.0.1"];
  };
  const url = new URL(`http://one.test:${port}/x.png`);

  const bytes = await downloadImage(url, { ...usual, lookup, allow: [`127.0.0.1:${port}`] });

  expect(Buffer.from(bytes).toString()).toBe(`two.test:${port}`);
  expect(lookups).toEqual(["one.test", "two.test"]);
});

test("downloadImage() follows no redirect from https to http", async (context) => {
  needProgram(context, openssl);
  const { port, ca } = await serveSecurely("one.test");
  const options = { ...usual, ca, lookup: async () => ["127.0.0.1"], allow: [`127.0.0.1:${port}`] };

  const bytes = downloadImage(new URL(`https://one.test:${port}/x.png`), options);

  await expect(bytes).rejects.toThrow("it redirects from https to http");
});

test("downloadImage() does not follow redirects for ever", async () => {
  let count = 0;
  const port = await serve((_, response) => response.writeHead(302, { location: `/${++count}` }).end());

  const bytes = downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

  await expect(bytes).rejects.toThrow("more than 5 redirects");
  expect(count).toBe(6);
});

test.for<[what: string, answer: RequestListener, message: RegExp]>([
  [
    "a page",
    (_, to) => to.setHeader("content-type", "text/html; charset=utf-8").end("<html>"),
    /says that it is text\/html/u,
  ],
  ["a status that is not 200", (_, to) => to.writeHead(404).end(), /the status 404/u],
  ["a part", (_, to) => to.writeHead(206, { "content-type": "image/png" }).end(), /the status 206/u],
  [
    "too many bytes",
    (_, to) => to.setHeader("content-type", "image/png").end("x".repeat(1001)),
    /more than 1000 bytes/u,
  ],
])("downloadImage() refuses %s", async ([, answer, message]) => {
  const port = await serve(answer);

  const bytes = downloadImage(here(port), { ...usual, allow: [`127.0.0.1:${port}`] });

  await expect(bytes).rejects.toThrow(message);
});

test("downloadImage() does not wait longer than it may", async () => {
  const port = await serve(() => {});

  const bytes = downloadImage(here(port), { ...usual, limitMs: 50, allow: [`127.0.0.1:${port}`] });

  await expect(bytes).rejects.toThrow(/not done after \d+ ms/u);
});

test("downloadImage() stops when it is told to", async () => {
  const stop = new AbortController();
  const port = await serve(() => stop.abort(new Error("enough")));

  const bytes = downloadImage(here(port), { ...usual, signal: stop.signal, allow: [`127.0.0.1:${port}`] });

  await expect(bytes).rejects.toThrow("enough");
});

test("downloadImage() does not show what stands after the path", async () => {
  const port = await serve((_, response) => response.writeHead(403).end());
  const url = new URL(`http://127.0.0.1:${port}/x.png?token=secret#more`);

  const bytes = downloadImage(url, { ...usual, allow: [`127.0.0.1:${port}`] });

  await expect(bytes).rejects.toMatchObject({ details: { image: `http://127.0.0.1:${port}/x.png` } });
});

function here(port: number): URL {
  return new URL(`http://127.0.0.1:${port}/x.png`);
}

/** Redirects everybody to the same place without encryption. */
async function serveSecurely(name: string): Promise<{ port: number; ca: string }> {
  const folder = createFolder();
  const [key, certificate] = [join(folder, "key"), join(folder, "certificate")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync(openssl, [...words, ...subject, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const ca = readFileSync(certificate, "utf8");
  const redirect: RequestListener = (request, response) =>
    response.writeHead(302, { location: `http://${request.headers.host}/x.png` }).end();
  return { port: await listen(createHttpsServer({ key: readFileSync(key), cert: ca }, redirect)), ca };
}

function serve(listener: RequestListener): Promise<number> {
  return listen(createServer(listener));
}

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
