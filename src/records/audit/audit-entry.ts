import { type ErrorCode, KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonValue, showValue, toCanonicalJson } from "../../core/json.ts";
import type { Recalled } from "../../core/outcome.ts";
import type { Permissions } from "../../core/permissions.ts";
import { isPlainJson, toKept } from "../../store/kept-value.ts";
import type { AuditKeys } from "./audit-keys.ts";

/** A call begins, or was asked for and refused. What it was given is there as a digest only. */
export interface AuditBegin {
  readonly type: "begin";
  /** The id of the call. */
  readonly call: string;
  /** The call that made this one, if a tool did. */
  readonly parent?: string;
  /** The user, if the caller named one; personal data is redacted. */
  readonly user?: string;
  /** A keyed digest of the unredacted `user`: with the key, an auditor can search for a user. */
  readonly userDigest?: string;
  /** The tool's address; the requested name if there is no such tool. */
  readonly tool: string;
  readonly version?: string;
  /** Of the tool's definition, and of the files of its code where it has files. */
  readonly toolDigest?: string;
  /** A keyed digest of what the caller gave; not there if it was no JSON. */
  readonly inputDigest?: string;
  /** What the tool may touch: enforced if it runs in a sandbox, else declared. */
  readonly permissions?: Permissions;
  /** The sandbox that enforces the tool's permissions; `none` for code of the host itself. */
  readonly sandbox?: string;
  /** Milliseconds since 1970, by the clock of the writing process. */
  readonly time: number;
}

/** A call has ended. */
export interface AuditEnd {
  readonly type: "end";
  readonly call: string;
  readonly status: "ok" | "failed";
  /** Why it failed. */
  readonly code?: ErrorCode;
  /** Whether the tool's code was reached. */
  readonly ran: boolean;
  /** Where the output comes from if the tool was not run for this call. */
  readonly recalled?: Recalled;
  /** How often the tool was run, if more than once. */
  readonly attempts?: number;
  readonly durationMs: number;
  /** A keyed digest of the output as it was handed over. */
  readonly outputDigest?: string;
  readonly time: number;
}

/** What the audit records. */
export type AuditEntry = AuditBegin | AuditEnd;

/** What can be wrong with a chain; `checkChain` says what each means. */
export type AuditProblem =
  | "changed"
  | "removed"
  | "inserted"
  | "reordered"
  | "cut-off"
  | "rewritten"
  | "key-wrong"
  | "anchor-missing";

/**
 * The chain was broken, and an operator decided to continue it. The entries between this one and the last good entry, whose hash is
 * `previous`, prove nothing; they stay in the stream.
 */
export interface AuditSetAside {
  readonly type: "set-aside";
  /** The first bad entry. */
  readonly broken: number;
  readonly problem: AuditProblem;
  /** A keyed hash of all that is in between, as it was then. */
  readonly remains: string;
  readonly time: number;
}

/** An entry in its place in the chain. */
export type AuditLine = (AuditEntry | AuditSetAside) & {
  /** Counts from 1. */
  readonly position: number;
  /** The hash of the entry before it, or of the last good one; 64 zeros for the first entry. */
  readonly previous: string;
  /** Of `previous` and everything else, with the key. */
  readonly hash: string;
};

/** How long the chain is, and the hash of its last entry. */
export interface AuditHead {
  readonly count: number;
  readonly hash: string;
}

/** The stream of the store's log that the chain is in. */
export const auditStream = "audit";

/** The head of a chain without entries. */
export const emptyHead: AuditHead = { count: 0, hash: "0".repeat(64) };

/** An entry that is not yet in the chain: its position is set when it is written, and set again if that write fails. */
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

/** Links an entry to `head`. The hashed text is also the stored text, with the hashes appended, so it is serialised only once. */
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
