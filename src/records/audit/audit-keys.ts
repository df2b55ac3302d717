import { createHmac, randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { KitbagError } from "../../core/errors.ts";
import { createFileAtomically } from "../../platform/files.ts";
import { makeHomeFolder } from "../../platform/home.ts";

/** The keys of one audit, each for one purpose, so that nothing that was made for one can be used for another. */
export interface AuditKeys {
  readonly chain: KeyedHash;
  readonly digest: KeyedHash;
  readonly anchor: KeyedHash;
  readonly seal: KeyedHash;
}

/** What proves later that something was decided by a holder of the key. */
export interface Sealer {
  /**
   * A keyed digest of a decision. It always differs from what `digest` of an audit gives: those digests are in the store, where a
   * reader could copy one that fits.
   */
  seal(value: JsonValue): string;
}

/** Where the key comes from: a file, which is made if it is missing, or the key itself. */
export type AuditKeySource =
  | { readonly keyFile: string; readonly key?: undefined }
  | { readonly key: Uint8Array; readonly keyFile?: undefined };

const keyBytes = 32;

/**
 * Opens what seals decisions with the key of an audit, without the audit.
 *
 * @throws {KitbagError} `audit-key-invalid` if the key is missing, too short, or others can read its file.
 */
export async function openSealer(source: AuditKeySource, { make = false } = {}): Promise<Sealer> {
  return toSealer(await loadAuditKeys(source, make));
}

/** What seals with these keys. */
export function toSealer({ seal }: AuditKeys): Sealer {
  return { seal: (value) => `hmac-sha256:${seal(toCanonicalJson(value))}` };
}

/**
 * Makes the keys.
 *
 * @throws {KitbagError} `audit-key-invalid` if the key is too short, or others can read its file.
 */
export async function loadAuditKeys(source: AuditKeySource, make: boolean): Promise<AuditKeys> {
  const { key, keyFile } = source;
  if (keyFile === undefined) return toKeys(checkLength(key, "the key that was given"));
  const kept = await readKey(keyFile);
  if (kept !== undefined) return toKeys(kept);
  if (!make) throw new KitbagError("audit-key-invalid", { key: keyFile, reason: "there is no such file" });
  makeHomeFolder(dirname(keyFile));
  createFileAtomically(keyFile, randomBytes(keyBytes));
  return toKeys((await readKey(keyFile)) as Uint8Array);
}

async function readKey(file: string): Promise<Uint8Array | undefined> {
  try {
    const [bytes, { mode }] = await Promise.all([readFile(file), stat(file)]);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new KitbagError("audit-key-invalid", { key: file, reason: "others can read it: run chmod 600 on it" });
    }
    return checkLength(bytes, file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

function checkLength(key: unknown, name: string): Uint8Array {
  if (key instanceof Uint8Array && key.length >= keyBytes) return key;
  throw new KitbagError("audit-key-invalid", { key: name, reason: `it is not ${keyBytes} bytes long` });
}

function toKeys(key: Uint8Array): AuditKeys {
  const derive = (purpose: string): KeyedHash => {
    const own = createHmac("sha256", key).update(`kitbag audit ${purpose}`).digest();
    return (text) => createHmac("sha256", own).update(text).digest("hex");
  };
  return { chain: derive("chain"), digest: derive("digest"), anchor: derive("anchor"), seal: derive("seal") };
}

/** HMAC-SHA-256 of a text with one key, in hexadecimal. */
type KeyedHash = (text: string) => string;
