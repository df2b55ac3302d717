import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { readAnchor } from "./anchor-file.ts";
import { linkLine, toOpenLine } from "./audit-chain.ts";
import { auditStream } from "./audit-entry.ts";
import { loadAuditKeys, type AuditKeySource } from "./audit-keys.ts";
import { checkChain, walkChain, type AuditVerdict } from "./check-chain.ts";
import { readAudit } from "./export-audit.ts";
import { anchorAudit } from "./verify-audit.ts";

/**
 * Goes on behind a chain that is broken: appends an entry that says where it broke and what is there now, and follows the last good
 * one. Nothing is taken away, and whoever verifies the audit is told of it from now on. A chain that is good in itself and whose
 * anchor is missing is only anchored. While it runs nobody must write to the audit.
 *
 * @throws {KitbagError} `store-conflict` if somebody did; `store-…` if the store cannot be used; `audit-key-invalid`.
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
    const { text } = linkLine(keys, { count, hash: head.hash }, toOpenLine(entry));
    await store.log.append(auditStream, [JSON.parse(text) as JsonValue], { expectedPosition: count });
  }
  return anchorAudit(store, options);
}
