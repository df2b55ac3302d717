import { createHash, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { makeHomeFolder } from "../../platform/home.ts";

/** Contents that are kept under their digests, so that nobody can put others in their place. */
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
    if (!/^sha256:[0-9a-f]{64}$/u.test(digest)) return undefined;
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
    const draft = `${place(digest)}.${randomBytes(6).toString("hex")}`;
    try {
      writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
      renameSync(draft, place(digest));
    } catch (cause) {
      rmSync(draft, { force: true });
      throw cause;
    }
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

function toDigest(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
