import { existsSync } from "node:fs";

import type { Store } from "../../core/store.ts";
import { type AuditBegin, type AuditEnd, type AuditLine, auditStream } from "../../records/audit/audit-entry.ts";
import { exportAudit } from "../../records/audit/export-audit.ts";
import { type Answer, type CliCommand, type Invocation, type Action, runAction } from "../cli-command.ts";
import { addOption, getText, readLimit, addStoreOption } from "../options.ts";
import { renderTable, showTime } from "../render.ts";
import { withKept } from "../store/open-kept.ts";
import { findKeyFile, verifyKept } from "../store/verify-kept.ts";
import { toLinesFile, writeLines } from "../store/write-lines.ts";

/** `kitbag audit`: who called what, in a chain in which every change shows. */
export const auditCommand: CliCommand = {
  examples: [
    ["kitbag audit verify", "is every record there, unchanged and in its place? exit code 1 if not"],
    ["kitbag audit show --limit 50", "the latest calls"],
    ["kitbag audit show --tool pdf-text --user ada", "those of one skill or tool, of one user"],
    ["kitbag audit export audit.jsonl", "all of it, a line each, with the hashes"],
    ["kitbag audit verify audit.jsonl --key audit.key", "an export, without the store it comes from"],
  ],
  define(command) {
    command.argument("[action]", "verify, show or export; show unless given");
    command.argument("[file]", "verify: an export to verify instead of the store; export: where to");
    addOption(command, "--tool <address>", "show: only of this tool, or of the tools of this skill");
    addOption(command, "--user <name>", "show: only of this user");
    addOption(command, "--limit <n>", "show: so many calls, at most; 20 unless set");
    addOption(command, "--key <file>", "verify and export: with this key; audit.key in KITBAG_HOME unless set");
    addStoreOption(command);
  },
  run: (invocation) => runAction("audit", actions, invocation, "show"),
};

const actions: Readonly<Record<string, Action>> = {
  verify: { words: [0, 1], run: verifyKept },
  show: { words: [0, 0], run: showCalls },
  export: { words: [0, 1], run: exportAll },
};

async function showCalls(invocation: Invocation): Promise<Answer> {
  const { options, terminal } = invocation;
  const limit = readLimit(getText(options, "limit"));
  const filter = { tool: getText(options, "tool"), user: getText(options, "user"), limit };
  const calls = await withKept(invocation, ({ store }) => readAuditedCalls(store, filter));
  if (calls.length === 0) return { document: { calls }, text: "The audit has no such calls." };
  const rows = calls.map(({ begin, end }) => [
    showTime(begin.time),
    begin.call,
    begin.tool,
    begin.user ?? "",
    begin.sandbox ?? "",
    end === undefined ? "" : `${end.durationMs} ms`,
    showEnd(end),
  ]);
  return {
    document: { calls },
    text: renderTable(["TIME", "CALL", "TOOL", "USER", "SANDBOX", "TOOK", "OUTCOME"], rows, terminal),
  };
}

function showEnd(end: AuditedCall["end"]): string {
  if (end === undefined) return "no end";
  return end.status === "ok" ? (end.recalled === undefined ? "ok" : "ok (recalled)") : (end.code ?? "failed");
}

async function exportAll(invocation: Invocation): Promise<Answer> {
  const file = toLinesFile(invocation.args[0]);
  const count = await withKept(invocation, ({ store }) =>
    writeLines(file, invocation, async (sink) => {
      const keyFile = findKeyFile(invocation);
      // Where nothing was ever audited there is no key, and nothing to seal.
      const hasKey = existsSync(keyFile);
      let lines = 0;
      for await (const line of exportAudit(store, hasKey ? { keyFile } : undefined)) {
        await sink(line);
        lines += 1;
      }
      return hasKey ? lines - 1 : lines;
    }),
  );
  return file === undefined
    ? { document: { count } }
    : { document: { file, count }, text: `Wrote ${count} entries to ${file}` };
}

/** One call as the audit has it. One without `end` runs, or its process died. */
interface AuditedCall {
  readonly begin: AuditBegin & { readonly position: number };
  readonly end?: AuditEnd & { readonly position: number };
}

/** Which calls to read. */
interface AuditedCallFilter {
  /** Of this tool, or of the tools of this owner. */
  readonly tool: string | undefined;
  readonly user: string | undefined;
  readonly limit: number;
}

const pageSize = 1000;

/** Reads the latest calls of the audit, the oldest of them first. It reads backwards, no further than it must. */
async function readAuditedCalls(
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
