import type { ErrorCode } from "../../core/errors.ts";
import type { Recalled } from "../../core/outcome.ts";
import type { Permissions } from "../../core/permissions.ts";

/** A call begins, or was asked for and refused. What it was given is there as a digest only. */
export interface AuditBegin {
  readonly type: "begin";
  /** The id of the call. */
  readonly call: string;
  /** The call that made this one, if a tool did. */
  readonly parent?: string;
  /** Who asked, if the caller said so; personal data is taken out. */
  readonly user?: string;
  /** A keyed digest of who asked, as it was said: whoever has the key can look for somebody. */
  readonly userDigest?: string;
  /** The tool's address; what was asked for if there is no such tool. */
  readonly tool: string;
  readonly version?: string;
  /** Of the tool's definition, and of the files of its code where it has files. */
  readonly toolDigest?: string;
  /** A keyed digest of what the caller gave; not there if it was no JSON. */
  readonly inputDigest?: string;
  /** What the tool may touch: enforced if it runs in a sandbox, else declared. */
  readonly permissions?: Permissions;
  /** What holds the tool to its permissions; `none` for code of the host itself. */
  readonly sandbox?: string;
  /** Milliseconds since 1970, by the clock of whoever wrote it. */
  readonly time: number;
}

/** A call is over. */
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
 * The chain was broken, and somebody decided to go on behind it. What is between this and the last good entry, whose hash is
 * `previous`, proves nothing; it stays where it is.
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
  /** The hash of the entry before it, or of the last good one; 64 zeros if there is none. */
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
