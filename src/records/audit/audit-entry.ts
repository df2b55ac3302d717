import { type ErrorCode, KitbagError } from "../../core/errors.ts";
import { isRecord, type JsonObject, type JsonValue, showValue, toCanonicalJson } from "../../core/json.ts";
import type { Recalled } from "../../core/outcome.ts";
import type { Permissions } from "../../core/permissions.ts";
import { toKept } from "../../store/kept-value.ts";
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

/** An entry in its place, as it is kept, and the head of a chain that ends with it. */
export interface LinkedLine {
  readonly line: JsonObject;
  readonly head: AuditHead;
}

/**
 * Copies an entry, without a place in the chain that it claims.
 *
 * @throws {KitbagError} `store-value-invalid` if it is not JSON.
 */
export function toOpenEntry(entry: AuditEntry | AuditSetAside): JsonObject {
  const kept = toKept(auditStream, entry);
  if (!isRecord(kept)) {
    const problem = { path: "", expected: "an entry", found: showValue(entry) };
    throw new KitbagError("store-value-invalid", { where: auditStream, problems: [problem] });
  }
  const { position: _position, previous: _previous, hash: _hash, ...own } = kept;
  return own;
}

/** Links an entry to `head`. */
export function linkLine(keys: AuditKeys, { count, hash: previous }: AuditHead, entry: JsonObject): LinkedLine {
  const placed = { ...entry, position: count + 1 };
  const hash = hashText(keys, previous, toCanonicalJson(placed));
  return { line: { ...placed, previous, hash }, head: { count: count + 1, hash } };
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
