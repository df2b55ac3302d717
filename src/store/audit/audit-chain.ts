import type { JsonValue } from "../../core/json.ts";
import { toKept } from "../kept-value.ts";
import { auditStream, type AuditEntry, type AuditHead, type AuditLine } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";
import { toOrderedCopy } from "./ordered-copy.ts";
import { toCanonicalJson } from "../../core/canonical-json.ts";

/** The head of a chain without entries. */
export const emptyHead: AuditHead = { count: 0, hash: "0".repeat(64) };

/** An entry on its way into the chain: where it will stand is decided when it is written, and anew if that comes to nothing. */
export interface OpenLine {
  readonly line: AuditEntry & { position: number; previous: string; hash: string };
  /** What is hashed, in its order; not there if it cannot be prepared. */
  readonly hashed: { position: number } | undefined;
}

/**
 * Copies an entry, with room for its place in the chain.
 *
 * @throws {KitbagError} `store-value-invalid` if it is not JSON.
 */
export function toOpenLine(entry: AuditEntry): OpenLine {
  const line = toKept(auditStream, entry) as unknown as OpenLine["line"];
  line.position = 0;
  const hashed = toOrderedCopy(line as unknown as JsonValue) as OpenLine["hashed"];
  line.previous = "";
  line.hash = "";
  return { line, hashed };
}

/** Puts a line behind the one that `head` is of. It is changed and not copied: the copies cost more than the hashes. */
export function linkLine(keys: AuditKeys, head: AuditHead, { line, hashed }: OpenLine): AuditLine {
  line.position = head.count + 1;
  line.previous = head.hash;
  if (hashed === undefined) line.hash = hashLine(keys, line);
  else {
    hashed.position = line.position;
    line.hash = hashText(keys, head.hash, JSON.stringify(hashed));
  }
  return line;
}

/** The entry that a value of the log is, if it was made with the key: nothing in it was changed since. */
export function readLine(keys: AuditKeys, value: unknown): AuditLine | undefined {
  return isLine(value) && hashLine(keys, value) === value.hash ? value : undefined;
}

/** The head of a chain that ends with `line`. */
export function toHead({ position, hash }: AuditLine): AuditHead {
  return { count: position, hash };
}

function hashLine(keys: AuditKeys, { previous, hash: _hash, ...entry }: AuditLine): string {
  return hashText(keys, previous, toCanonicalJson(entry as unknown as Readonly<Record<string, JsonValue>>));
}

function hashText(keys: AuditKeys, previous: string, text: string): string {
  return keys.chain(`${previous}\n${text}`);
}

function isLine(value: unknown): value is AuditLine {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { position, previous, hash } = value as Readonly<Record<string, JsonValue>>;
  return Number.isSafeInteger(position) && typeof previous === "string" && typeof hash === "string";
}
