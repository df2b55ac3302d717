import { KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonValue, showValue, toCanonicalJson } from "../../core/json.ts";
import { isPlainJson, toKept } from "../../store/kept-value.ts";
import { type AuditEntry, type AuditHead, type AuditLine, type AuditSetAside, auditStream } from "./audit-entry.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** The head of a chain without entries. */
export const emptyHead: AuditHead = { count: 0, hash: "0".repeat(64) };

/** An entry on its way into the chain: where it will stand is decided when it is written, and anew if that comes to nothing. */
export interface OpenLine {
  readonly entry: { position: number };
  /** Whether `JSON.stringify` writes it as canonical JSON. */
  readonly isOrdered: boolean;
}

/** A line as it is kept, and the head of a chain that ends with it. */
export interface LinkedLine {
  readonly text: string;
  readonly head: AuditHead;
}

/**
 * Copies an entry, with room for its place in the chain.
 *
 * @throws {KitbagError} `store-value-invalid` if it is not JSON.
 */
export function toOpenLine(entry: AuditEntry | AuditSetAside): OpenLine {
  const ordered = orderPlain(entry);
  if (ordered !== undefined) return { entry: ordered as unknown as OpenLine["entry"], isOrdered: true };
  const kept = toKept(auditStream, entry);
  if (!isRecord(kept)) {
    const problem = { path: "", expected: "an entry", found: showValue(entry) };
    throw new KitbagError("store-value-invalid", { where: auditStream, problems: [problem] });
  }
  return { entry: withPlace(kept), isOrdered: false };
}

/** The quick way, for entries that are plainly JSON. */
function orderPlain(entry: AuditEntry | AuditSetAside): JsonValue | undefined {
  try {
    return isRecord(entry) && isPlainJson(entry) ? toOrderedCopy(withPlace(entry)) : undefined;
  } catch {
    // It throws when it is read: the copy says where.
    return undefined;
  }
}

/** The entry without a place that it claims, and with room for its own. */
function withPlace(entry: object): { position: number } {
  const { previous: _previous, hash: _hash, ...own } = entry as Partial<AuditLine>;
  return { ...own, position: 0 };
}

/** Puts a line behind the one that `head` is of. What is hashed is also what is kept, with the hashes behind it: it is written once. */
export function linkLine(keys: AuditKeys, head: AuditHead, { entry, isOrdered }: OpenLine): LinkedLine {
  entry.position = head.count + 1;
  const hashed = isOrdered ? JSON.stringify(entry) : toCanonicalJson(entry);
  const hash = hashText(keys, head.hash, hashed);
  const text = `${hashed.slice(0, -1)},"previous":"${head.hash}","hash":"${hash}"}`;
  return { text, head: { count: entry.position, hash } };
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

/**
 * Copies a value, with the keys of its objects in such an order that `JSON.stringify` writes it as `toCanonicalJson` does, in a
 * fraction of the time. `undefined` if that cannot be: keys that are numbers stand where JavaScript puts them, and `__proto__` is
 * no key like others.
 */
export function toOrderedCopy(value: JsonValue): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(toOrderedCopy);
    return items.includes(undefined) ? undefined : (items as readonly JsonValue[]);
  }
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value).toSorted()) {
    const item = toOrderedCopy((value as Readonly<Record<string, JsonValue>>)[key] as JsonValue);
    if (item === undefined || isDigit(key.charCodeAt(0)) || key === "__proto__") return undefined;
    copy[key] = item;
  }
  return copy;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
