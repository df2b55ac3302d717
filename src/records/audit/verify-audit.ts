import type { Store } from "../../core/store.ts";
import { makeAnchorFile, readAnchor } from "./anchor-file.ts";
import { auditStream, linkLine } from "./audit-entry.ts";
import { type AuditKeys, type AuditKeySource, loadAuditKeys } from "./audit-keys.ts";
import { type AuditVerdict, type ChainExpectations, checkChain, walkChain } from "./check-chain.ts";
import { isExportSeal, isSealOf, parseAuditLines, readAudit } from "./export-audit.ts";

/** What a chain is verified with. */
export type VerifyAuditOptions = AuditKeySource & {
  /** Without it, verification cannot detect that the end was cut off. */
  readonly anchorFile?: string;
};

/**
 * Tells whether every entry of the audit is there, unchanged and in its place; points at the first that is not. It reads entry
 * by entry, however long the chain is. Others may write meanwhile.
 *
 * @throws {KitbagError} `audit-key-invalid` if there is no key; `store-…` if the store cannot be read.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { memoryStore } from "kitbag";
 * import { verifyAudit } from "kitbag/store";
 *
 * const verdict = await verifyAudit(memoryStore(), { key: randomBytes(32) });
 * console.assert(verdict.ok && verdict.count === 0);
 * ```
 */
export async function verifyAudit(store: Store, options: VerifyAuditOptions): Promise<AuditVerdict> {
  const keys = await loadAuditKeys(options, false);
  // The anchor first: what is written meanwhile is behind it.
  return checkChain(readAudit(store), toExpectations(keys, options));
}

/** What lines of an export are verified with. */
export type VerifyAuditLinesOptions = VerifyAuditOptions & {
  /** They must end with the line that {@link exportAudit} writes when it has the key; else the end is cut off. @default false */
  readonly sealed?: boolean;
};

/**
 * Does the same for lines that {@link exportAudit} made. The anchor may be that of the store they come from; a line that ends the
 * export is held against the entries before it.
 *
 * @throws {KitbagError} `audit-key-invalid` if there is no key.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { verifyAuditLines } from "kitbag/store";
 *
 * const verdict = await verifyAuditLines(['{"type":"begin"}'], { key: randomBytes(32) });
 * console.assert(!verdict.ok && verdict.position === 1);
 * ```
 */
export async function verifyAuditLines(
  lines: AsyncIterable<string> | Iterable<string>,
  { sealed = false, ...options }: VerifyAuditLinesOptions,
): Promise<AuditVerdict> {
  const keys = await loadAuditKeys(options, false);
  const seals: unknown[] = [];
  const verdict = await checkChain(takeSeals(parseAuditLines(lines), seals), toExpectations(keys, options));
  if (!verdict.ok || (!sealed && seals.length === 0) || seals.some((seal) => isSealOf(keys, verdict, seal)))
    return verdict;
  const { count } = verdict;
  return { ok: false, count, position: count + 1, problem: "cut-off" };
}

/** Gives the entries, and puts the lines that end an export aside. */
async function* takeSeals(values: AsyncIterable<unknown>, seals: unknown[]): AsyncGenerator {
  for await (const value of values) {
    if (isExportSeal(value)) seals.push(value);
    else yield value;
  }
}

/**
 * Accepts the current end of the chain after the store was restored or moved: makes a new anchor, if the chain is intact. No process
 * may write to the audit meanwhile.
 *
 * @throws {KitbagError} `audit-key-invalid` if there is no key; `store-…` if the store cannot be read.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { memoryStore } from "kitbag";
 * import { anchorAudit } from "kitbag/store";
 *
 * const anchorFile = join(tmpdir(), crypto.randomUUID());
 * const verdict = await anchorAudit(memoryStore(), { key: randomBytes(32), anchorFile });
 * console.assert(verdict.ok);
 * ```
 */
export async function anchorAudit(
  store: Store,
  options: AuditKeySource & { readonly anchorFile: string },
): Promise<AuditVerdict> {
  const keys = await loadAuditKeys(options, false);
  const verdict = await checkChain(readAudit(store), { keys });
  if (verdict.ok) makeAnchorFile(options.anchorFile, keys, verdict, { replace: true });
  return verdict;
}

function toExpectations(keys: AuditKeys, { anchorFile }: VerifyAuditOptions): ChainExpectations {
  return anchorFile === undefined ? { keys } : { keys, anchor: readAnchor(anchorFile, keys) ?? "missing" };
}

/**
 * Continues a broken chain: appends an entry that follows the last good one, and says where the chain broke and what is there now.
 * Nothing is removed, and every later verification reports the break. An intact chain without an anchor is only anchored. No process
 * may write to the audit meanwhile.
 *
 * @throws {KitbagError} `store-conflict` if a process wrote meanwhile; `store-…` if the store cannot be used; `audit-key-invalid`.
 */
export async function setAsideAudit(
  store: Store,
  options: AuditKeySource & { readonly anchorFile: string },
): Promise<AuditVerdict> {
  const keys = await loadAuditKeys(options, true);
  const anchor = readAnchor(options.anchorFile, keys) ?? "missing";
  const verdict = await checkChain(readAudit(store), { keys, anchor });
  if (!verdict.ok && verdict.problem !== "anchor-missing") {
    const { position: broken, problem } = verdict;
    const count = await store.log.position(auditStream);
    // The entry is held against the chain alone: the anchor is a new one then.
    const { head, remains } = await walkChain(readAudit(store), { keys });
    const entry = { type: "set-aside", broken, problem, remains, time: Date.now() } as const;
    const { line } = linkLine(keys, { count, hash: head.hash }, entry);
    await store.log.append(auditStream, [line], { expectedPosition: count });
  }
  return anchorAudit(store, options);
}
