import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { NpmPackage, PackageFile } from "./make-packages.ts";

/** What an index holds, and how it misbehaves. */
export interface IndexContent {
  readonly wheels?: readonly PackageFile[];
  readonly npm?: readonly NpmPackage[];
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
  readonly index: { readonly python: string; readonly npm: string };
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
    index: { python: `${url}/simple`, npm: url },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(
  { wheels = [], npm = [], attributes = "" }: IndexContent,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const path = decodeURIComponent(request.url ?? "").slice(1);
  const file = [...wheels, ...npm].find((one) => path === `files/${one.file}`);
  if (file !== undefined) {
    response.end(file.bytes);
    return;
  }
  const [, project] = /^simple\/([^/]+)\/$/u.exec(path) ?? [];
  const links = wheels.filter((one) => project !== undefined && toProject(one.file) === project);
  if (links.length > 0) {
    response.setHeader("content-type", "text/html");
    const rows = links.map((one) => `<a href="/files/${one.file}" ${attributes}>${one.file}</a>`);
    response.end(`<!DOCTYPE html><html><body>${rows.join("\n")}</body></html>`);
    return;
  }
  const versions = npm.filter(({ manifest }) => manifest.name === path);
  if (versions.length === 0) response.statusCode = 404;
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify(versions.length === 0 ? { error: "Not found" } : toDocument(versions, request.headers.host ?? "")),
  );
}

function toProject(file: string): string {
  return (file.split(/-\d/u)[0] ?? "").toLowerCase().replaceAll(/[-_.]+/gu, "-");
}

function toDocument(versions: readonly NpmPackage[], host: string): unknown {
  const entries = versions.map(({ manifest, file, bytes }) => {
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `http://${host}/files/${file}`, integrity };
    return [manifest.version, { ...manifest, dist }];
  });
  const latest = versions.at(-1)?.manifest.version;
  return {
    name: versions[0]?.manifest.name,
    "dist-tags": { latest },
    versions: Object.fromEntries(entries) as unknown,
  };
}
