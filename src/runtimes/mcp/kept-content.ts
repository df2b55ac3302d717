import { readFileSync } from "node:fs";
import { join } from "node:path";

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { isDigest, toDigest } from "../../platform/digest.ts";
import { writeFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";

/** Contents that are kept under their digests, so that no others can be put in their place. */
export interface KeptContent {
  /** The bytes with this digest; nothing if they are not here, or are not those any more. */
  read(digest: string): Buffer | undefined;
  /** The JSON value with this digest. */
  readJson(digest: string): JsonValue | undefined;
  /** Keeps bytes; answers with their digest. */
  write(bytes: Uint8Array): string;
  /** Keeps a value in the one way that JSON has to write it. */
  writeJson(value: JsonValue): string;
}

/** Keeps contents in the files of a directory, which need not be there yet. */
export function createKeptContent(directory: string): KeptContent {
  const place = (digest: string): string => join(directory, digest.slice("sha256:".length));

  function read(digest: string): Buffer | undefined {
    if (!isDigest(digest)) return undefined;
    try {
      const bytes = readFileSync(place(digest));
      return toDigest(bytes) === digest ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  function write(bytes: Uint8Array): string {
    const digest = toDigest(bytes);
    if (read(digest) !== undefined) return digest;
    makeHomeFolder(directory);
    writeFileAtomically(place(digest), bytes);
    return digest;
  }

  return {
    read,
    readJson(digest) {
      const bytes = read(digest);
      return bytes === undefined ? undefined : (JSON.parse(bytes.toString("utf8")) as JsonValue);
    },
    write,
    writeJson: (value) => write(Buffer.from(toCanonicalJson(value))),
  };
}
