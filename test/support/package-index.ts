import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { Crate, NpmPackage, PackageFile } from "./make-packages.ts";

/** What an index holds, and how it misbehaves. */
export interface IndexContent {
  readonly wheels?: readonly PackageFile[];
  readonly npm?: readonly NpmPackage[];
  readonly crates?: readonly Crate[];
  /** Answers instead of the index if it says that it has (`true`). */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Attributes of the link to a wheel. */
  readonly attributes?: string;
}

/** A package index for Python and npm on this machine. */
export interface TestIndex {
  readonly url: string;
  readonly host: string;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
  /** What `createDependencies` takes. */
  readonly index: { readonly python: string; readonly npm: string; readonly cargo: string };
  close(): void;
}

/** Starts a package index on the loopback interface. */
export async function startIndex(content: IndexContent): Promise<TestIndex> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (content.instead?.(request, response) !== true) answer(content, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}`;
  return {
    url,
    host,
    asked,
    index: { python: `${url}/simple`, npm: url, cargo: `${url}/crates` },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(content: IndexContent, request: IncomingMessage, response: ServerResponse): void {
  const path = decodeURIComponent(request.url ?? "").slice(1);
  const host = request.headers.host ?? "";
  const { wheels = [], npm = [], crates = [] } = content;
  const file = [...wheels, ...npm, ...crates].find((one) => path === `files/${one.file}`);
  const found =
    file?.bytes ?? findPage(content, path) ?? findDocument(npm, path, host) ?? findCrates(crates, path, host);
  if (found === undefined) response.statusCode = 404;
  response.setHeader("content-type", path.startsWith("simple/") ? "text/html" : "application/json");
  response.end(found ?? '{"error":"Not found"}');
}

/** A page of Python's simple index. */
function findPage({ wheels = [], attributes = "" }: IndexContent, path: string): string | undefined {
  const [, project] = /^simple\/([^/]+)\/$/u.exec(path) ?? [];
  const links = wheels.filter((one) => project !== undefined && toProject(one.file) === project);
  const rows = links.map((one) => `<a href="/files/${one.file}" ${attributes}>${one.file}</a>`);
  return rows.length === 0 ? undefined : `<!DOCTYPE html><html><body>${rows.join("\n")}</body></html>`;
}

/** A file of Cargo's sparse index. */
function findCrates(crates: readonly Crate[], path: string, host: string): string | undefined {
  if (path === "crates/config.json") return JSON.stringify({ dl: `http://${host}/files/{crate}-{version}.crate` });
  const lines = crates
    .filter(({ name }) => path.startsWith("crates/") && path.endsWith(`/${name}`))
    .map(({ name, version: vers, bytes }) => {
      const cksum = createHash("sha256").update(bytes).digest("hex");
      return JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked: false });
    });
  return lines.length === 0 ? undefined : `${lines.join("\n")}\n`;
}

function toProject(file: string): string {
  return (file.split(/-\d/u)[0] ?? "").toLowerCase().replaceAll(/[-_.]+/gu, "-");
}

/** A document of npm's registry. */
function findDocument(npm: readonly NpmPackage[], path: string, host: string): string | undefined {
  const versions = npm.filter(({ manifest }) => manifest.name === path);
  if (versions.length === 0) return undefined;
  const entries = versions.map(({ manifest, file, bytes }) => {
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `http://${host}/files/${file}`, integrity };
    return [manifest.version, { ...manifest, dist }];
  });
  const latest = versions.at(-1)?.manifest.version;
  return JSON.stringify({ name: path, "dist-tags": { latest }, versions: Object.fromEntries(entries) as unknown });
}
