import { createHash, timingSafeEqual } from "node:crypto";

import semver from "semver";

import { isRecord } from "../../core/json.ts";
import { download, type DownloadOptions } from "../../sandbox/download/download.ts";
import { importFailed, type FetchOptions, toLimits } from "./fetched.ts";
import { type ImportSource } from "./import-source.ts";

/** A source that is a package of npm. */
export type NpmSource = Extract<ImportSource, { kind: "npm" }>;

/** The archive of a package. */
export interface NpmArchive {
  readonly bytes: Uint8Array;
  readonly version: string;
  readonly integrity: string;
}

/** What a registry says about a version. */
interface NpmVersion {
  readonly dist?: { readonly tarball?: unknown; readonly integrity?: unknown };
}

const maxDocumentBytes = 32 * 1024 * 1024;

/**
 * Downloads the archive of a package, and holds it against the digest that the registry names. Runs nothing of it.
 *
 * @throws {KitbagError} `import-failed`, `network-refused`, `network-failed`
 */
export async function fetchNpm(source: NpmSource, options: FetchOptions): Promise<NpmArchive> {
  const registry = toRegistry(options.registry ?? "https://registry.npmjs.org", source);
  const { limitMs, maxDownloadBytes } = toLimits(options.limits);
  // A registry that is named may be asked, also if it is on this machine.
  const allowHosts = [...(options.allowHosts ?? []), ...(options.registry === undefined ? [] : [registry.host])];
  const from: DownloadOptions = { ...options, allowHosts, limitMs, maxBytes: maxDocumentBytes };
  const name = source.address.replace("/", "%2f");
  const document = parseDocument(
    await download(new URL(name, registry), { ...from, accept: "application/json" }),
    source,
  );
  const version = pickVersion(document, source);
  const { tarball, integrity } = document.versions[version]?.dist ?? {};
  if (typeof tarball !== "string" || !URL.canParse(tarball))
    throw importFailed(source, `version ${version} has no archive`);
  if (typeof integrity !== "string") throw importFailed(source, `the registry names no digest of version ${version}`);
  const bytes = await download(new URL(tarball), { ...from, maxBytes: maxDownloadBytes });
  if (!isIntact(bytes, integrity))
    throw importFailed(source, "the archive is not what the registry says: its digest is another one");
  return { bytes, version, integrity };
}

function toRegistry(text: string, source: NpmSource): URL {
  if (URL.canParse(text) && /^https?:/u.test(text)) return new URL(text.endsWith("/") ? text : `${text}/`);
  throw importFailed(source, "the registry is no address that begins with https:// or http://");
}

interface NpmDocument {
  readonly versions: Readonly<Record<string, NpmVersion | undefined>>;
  readonly tags: Readonly<Record<string, unknown>>;
}

function parseDocument(bytes: Buffer, source: NpmSource): NpmDocument {
  let parsed: { versions?: unknown; "dist-tags"?: unknown } | null;
  try {
    parsed = JSON.parse(bytes.toString("utf8")) as typeof parsed;
  } catch (cause) {
    throw importFailed(source, "the registry answered with something else than JSON", cause);
  }
  const { versions, "dist-tags": tags } = parsed ?? {};
  if (!isRecord(versions) || !isRecord(tags)) throw importFailed(source, "the registry knows no versions of it");
  return { versions: versions as NpmDocument["versions"], tags };
}

function pickVersion({ versions, tags }: NpmDocument, source: NpmSource): string {
  const wanted = source.ref ?? "latest";
  const tagged = Object.hasOwn(tags, wanted) ? tags[wanted] : undefined;
  const known = Object.keys(versions);
  const picked = typeof tagged === "string" ? tagged : semver.maxSatisfying(known, wanted);
  if (picked !== null && Object.hasOwn(versions, picked)) return picked;
  const shown = semver.rsort(known.filter((one) => semver.valid(one) !== null)).slice(0, 8);
  throw importFailed(
    source,
    `there is no version ${JSON.stringify(wanted)}; the newest are ${shown.join(", ") || "none"}`,
  );
}

/** The strongest digest counts; MD5 and SHA-1 do not. */
function isIntact(bytes: Uint8Array, integrity: string): boolean {
  const digests = integrity.split(/\s+/u).flatMap((one) => {
    const [, algorithm, digest] = /^(sha512|sha384|sha256)-([A-Za-z0-9+/]+={0,2})/u.exec(one) ?? [];
    return algorithm === undefined || digest === undefined ? [] : [{ algorithm, digest }];
  });
  const [strongest] = digests.toSorted((left, right) => (left.algorithm > right.algorithm ? -1 : 1));
  if (strongest === undefined) return false;
  const [found, said] = [
    createHash(strongest.algorithm).update(bytes).digest(),
    Buffer.from(strongest.digest, "base64"),
  ];
  return found.length === said.length && timingSafeEqual(found, said);
}
