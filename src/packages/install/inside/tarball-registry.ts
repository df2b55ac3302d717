/**
 * Answers as an npm registry does, with the packages in a folder of tarballs, while a program runs. Runs inside the sandbox, where
 * no other program can reach it.
 *
 *   node tarball-registry.ts <folder> <program> <argument>...
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

interface Tarball {
  readonly file: string;
  readonly name: string;
  readonly version: string;
  readonly manifest: Record<string, unknown>;
  readonly integrity: string;
}

const largestManifest = 4 * 1024 * 1024;
const block = 512;

const [folder = "", program = "", ...argv] = process.argv.slice(2);
const tarballs = readdirSync(folder)
  .filter((file) => file.endsWith(".tgz"))
  .map((file) => readTarball(file))
  .filter((tarball) => tarball !== undefined);

const server = createServer(answer);
server.listen(0, "127.0.0.1", () => {
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const child = spawn(program, argv, { stdio: "inherit", env: { ...process.env, npm_config_registry: registry } });
  child.once("exit", (code) => process.exit(code ?? 1));
  child.once("error", (cause) => {
    process.stderr.write(`${cause.message}\n`);
    process.exit(127);
  });
});

function answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const path = decodeURIComponent(url.slice(1).split("?")[0] ?? "");
  const tarball = tarballs.find(({ file }) => path === `-/${file}`);
  if (tarball !== undefined) {
    response.end(readFileSync(join(folder, tarball.file)));
    return;
  }
  const versions = tarballs.filter(({ name }) => name === path);
  response.setHeader("content-type", "application/json");
  if (versions.length === 0) response.statusCode = 404;
  response.end(
    JSON.stringify(versions.length === 0 ? { error: "Not found" } : toDocument(versions, headers.host ?? "")),
  );
}

function toDocument(versions: readonly Tarball[], host: string): unknown {
  const latest = versions
    .map(({ version }) => version)
    .toSorted(compareVersions)
    .at(-1);
  const entries = versions.map(({ version, manifest, file, integrity }) => {
    const dist = { tarball: `http://${host}/-/${encodeURIComponent(file)}`, integrity };
    return [version, { ...manifest, dist }] as const;
  });
  return { name: versions[0]?.name, "dist-tags": { latest }, versions: Object.fromEntries(entries) };
}

/** Releases after the versions that come before them. */
function compareVersions(left: string, right: string): number {
  const [numbers, others] = [left, right].map((version) => version.split(/[.+-]/u).slice(0, 3).map(Number));
  for (let place = 0; place < 3; place++) {
    const difference = (numbers?.[place] ?? 0) - (others?.[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return Number(right.includes("-")) - Number(left.includes("-"));
}

function readTarball(file: string): Tarball | undefined {
  try {
    const bytes = readFileSync(join(folder, file));
    const manifest = JSON.parse(findManifest(gunzipSync(bytes))) as Record<string, unknown>;
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    return { file, name: String(manifest["name"]), version: String(manifest["version"]), manifest, integrity };
  } catch (cause) {
    process.stderr.write(`npm warn ${file} is not a package: ${String(cause)}\n`);
    return undefined;
  }
}

/** The text of `package.json` in the top directory of an archive. */
function findManifest(archive: Buffer): string {
  for (let offset = 0; offset + block <= archive.length;) {
    const header = archive.subarray(offset, offset + block);
    const name = header.subarray(0, 100).toString().split("\0")[0] ?? "";
    const size = Number.parseInt(header.subarray(124, 136).toString(), 8) || 0;
    offset += block;
    if (/^[^/]+\/package\.json$/u.test(name) && size <= largestManifest)
      return archive.subarray(offset, offset + size).toString();
    offset += Math.ceil(size / block) * block;
  }
  throw new Error("there is no package.json in it");
}
