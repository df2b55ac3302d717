import type { JsonValue } from "../../core/json.ts";
import type { AuditEntry, AuditHead, AuditLine } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";
import { toCanonicalJson } from "../../core/canonical-json.ts";

/** The head of a chain without entries. */
export const emptyHead: AuditHead = { count: 0, hash: "0".repeat(64) };

/** Puts an entry behind the one that `head` is of. */
export function linkEntry(keys: AuditKeys, head: AuditHead, entry: AuditEntry): AuditLine {
  const position = head.count + 1;
  const hash = hashOf(keys, head.hash, { ...entry, position });
  return { ...entry, position, previous: head.hash, hash };
}

/** The entry that a value of the log is, if it was made with the key: nothing in it was changed since. */
export function readLine(keys: AuditKeys, value: unknown): AuditLine | undefined {
  if (!isLine(value)) return undefined;
  const { previous, hash, ...entry } = value;
  return hashOf(keys, previous, entry) === hash ? value : undefined;
}

/** The head of a chain that ends with `line`. */
export function toHead({ position, hash }: AuditLine): AuditHead {
  return { count: position, hash };
}

function hashOf(keys: AuditKeys, previous: string, entry: object): string {
  const text = toCanonicalJson(entry as Readonly<Record<string, JsonValue>>);
  return keys.chain(`${previous}\n${text}`);
}

function isLine(value: unknown): value is AuditLine {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { position, previous, hash } = value as Readonly<Record<string, JsonValue>>;
  return Number.isSafeInteger(position) && typeof previous === "string" && typeof hash === "string";
}
