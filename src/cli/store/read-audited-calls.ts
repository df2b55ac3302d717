import type { Store } from "../../core/store.ts";
import { auditStream, type AuditBegin, type AuditEnd, type AuditLine } from "../../records/audit/audit-entry.ts";

/** One call as the audit has it. One without `end` runs, or its process died. */
export interface AuditedCall {
  readonly begin: AuditBegin & { readonly position: number };
  readonly end?: AuditEnd & { readonly position: number };
}

/** Which calls to read. */
export interface AuditedCallFilter {
  /** Of this tool, or of the tools of this owner. */
  readonly tool: string | undefined;
  readonly user: string | undefined;
  readonly limit: number;
}

const pageSize = 1000;

/** Reads the latest calls of the audit, the oldest of them first. It reads backwards, no further than it must. */
export async function readAuditedCalls(
  { log }: Pick<Store, "log">,
  { tool, user, limit }: AuditedCallFilter,
): Promise<readonly AuditedCall[]> {
  const calls: AuditedCall[] = [];
  const ends = new Map<string, NonNullable<AuditedCall["end"]>>();
  for (let after = await log.position(auditStream); after > 0 && calls.length < limit;) {
    const start = Math.max(0, after - pageSize);
    const entries = await log.read(auditStream, { after: start, limit: after - start });
    for (const { value } of entries.toReversed()) {
      const line = value as unknown as AuditLine;
      if (line.type === "end") ends.set(line.call, line);
      if (line.type !== "begin" || !isWanted(line, tool, user) || calls.length === limit) continue;
      const end = ends.get(line.call);
      calls.push({ begin: line, ...(end !== undefined && { end }) });
    }
    after = start;
  }
  return calls.toReversed();
}

function isWanted(begin: AuditBegin, tool: string | undefined, user: string | undefined): boolean {
  const isOfTool = tool === undefined || begin.tool === tool || begin.tool.startsWith(`${tool}/`);
  return isOfTool && (user === undefined || begin.user === user);
}
