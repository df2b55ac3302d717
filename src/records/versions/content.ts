import { hash } from "node:crypto";

import { toCanonicalJson, type JsonObject } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";

/** One file of a version. */
export interface VersionFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
}

/** What a version is made of: its definition as data, and its files. */
export interface VersionContent {
  readonly definition: JsonObject;
  readonly files: readonly VersionFile[];
}

/** What a version is made from. A file is read only when the version is new. */
export interface VersionSource {
  readonly definition: JsonObject;
  readonly files: readonly (VersionFile & { read(): Uint8Array | Promise<Uint8Array> })[];
}

/** The digest of a version: that of the blob that says what it is made of. */
export function toDigest(source: VersionSource): string {
  return `sha256:${hash("sha256", describe(source))}`;
}

/**
 * Keeps the files of a version, and answers with the bytes that say what it is made of.
 *
 * @throws {KitbagError} `script-changed` if a file is not what it was when the version was made.
 */
export async function toContent(store: Store, source: VersionSource): Promise<Uint8Array> {
  for (const { path, digest, read } of source.files) {
    // Also what is there is put again: whoever collects blobs just now may not know yet that this version needs it.
    const kept = await store.blobs.put((await store.blobs.get(digest)) ?? (await read()));
    if (kept !== digest) throw new KitbagError("script-changed", { path });
  }
  return new TextEncoder().encode(describe(source));
}

function describe({ definition, files }: VersionContent): string {
  const list = files.map(({ path, bytes, digest }) => ({ path, bytes, digest }));
  const sorted = list.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return toCanonicalJson({ definition, files: sorted });
}

/**
 * Reads what a version is made of.
 *
 * @throws {KitbagError} `version-not-found` if its bytes are gone.
 */
export async function loadContent(
  { blobs }: Store,
  { address, digest }: { readonly address: string; readonly digest: string },
): Promise<VersionContent> {
  const bytes = await blobs.get(digest);
  if (bytes === undefined) throw new KitbagError("version-not-found", { address, which: digest, known: [] });
  return JSON.parse(new TextDecoder().decode(bytes)) as VersionContent;
}
