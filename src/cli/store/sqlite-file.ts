import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { showCommand } from "../options.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { SqliteReport } from "../../store/sqlite/check-sqlite.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { toPrintable, toPrintableLine } from "../printable.ts";
import { renderTable, toShownPath, showBytes, plural } from "../render.ts";
import { toAuditFiles } from "./audit-files.ts";
import { defaultStore, findNamedStore, type SqliteChoice } from "./choose-store.ts";
import { hideSqliteWarning, openStoreToRead, toCopyNotes } from "./open-store.ts";
import { checkKept, findKnownId } from "./open-kept.ts";
import { tellSetAside } from "./verify-kept.ts";

/** Looks for damage in the file of a store; exit code 1 if there is some. */
export async function checkFile(invocation: Invocation): Promise<Answer> {
  const choice = await findFile(invocation, "check");
  const { checkSqlite } = await import("../../store/sqlite/check-sqlite.ts");
  invocation.terminal.showStatus("Checking …");
  const report = await checkSqlite(choice.file);
  const { problems } = report;
  const shown = toShownPath(choice.file, invocation.cwd);
  if (problems.length === 0) return checkRecords(choice, { report, shown }, invocation);
  const rows = problems.map(({ where, problem }) => [where, problem]);
  return {
    document: { ok: false, ...report },
    text: renderTable(["WHERE", "PROBLEM"], rows, invocation.terminal),
    failure: toPrintable(`${shown} ${explainDamage(report, invocation)}`),
    exitCode: 1,
  };
}

/** What names the file itself is wrong with all of it. */
function explainDamage({ file, problems }: SqliteReport, invocation: Invocation): string {
  return problems.some(({ where }) => where === file)
    ? "is no database, or its first page is damaged: nothing of it can be read; restore a backup, or name another file with --store"
    : `is damaged; save what can be read with: ${showCommand("store repair", invocation)}`;
}

/** In an undamaged file a record may still have been changed: only the audit tells. */
async function checkRecords(
  choice: SqliteChoice,
  { report, shown }: { readonly report: object; readonly shown: string },
  invocation: Invocation,
): Promise<Answer> {
  const home = resolveKitbagHome(invocation.env);
  const files = toAuditFiles(home, await findKnownId(choice, home));
  // Where the audit of a copy must end is not known here.
  const isKnown = existsSync(files.keyFile) && existsSync(files.anchorFile);
  if (!isKnown) return { document: { ok: true, ...report }, text: toPrintable(`ok: ${shown} is whole`) };
  const { verifyAudit } = await import("../../records/audit/verify-audit.ts");
  const store = await openStoreToRead(choice);
  try {
    const audit = await verifyAudit(store, files);
    const document = { ...report, ok: audit.ok, audit };
    const { count } = audit;
    if (audit.ok) {
      const text = `ok: ${shown} is whole, and so is its audit of ${plural(count, "entry", "entries")}`;
      return { document, text: toPrintable([text, ...tellSetAside(audit)].join("\n")) };
    }
    const what = `entry ${audit.position} (${audit.problem})`;
    const failure = `${shown} is whole, but its audit is not: ${what}; see ${showCommand("audit verify", invocation)}`;
    return { document, failure: toPrintable(failure), exitCode: 1 };
  } finally {
    await store.close();
  }
}

/** Saves what can be read of a damaged file. */
export async function repairFile(invocation: Invocation): Promise<Answer> {
  const { file } = await findFile(invocation, "repair");
  const { repairSqlite } = await import("../../store/sqlite/repair-sqlite.ts");
  invocation.terminal.showStatus("Repairing …");
  const repair = await repairSqlite(file);
  const { damaged, saved, lost } = repair;
  const rows = Object.entries(saved).map(([what, count]) => [what, String(count)]);
  const text = [
    renderTable(["SAVED", "COUNT"], rows, invocation.terminal),
    ...(lost.length === 0 ? ["Nothing was lost."] : ["Lost:", ...lost.map((what) => `  ${toPrintableLine(what)}`)]),
    toPrintable(`The damaged file is ${toShownPath(damaged, invocation.cwd)}.`),
    toPrintable(`Whether records of calls are missing now says: ${showCommand("audit verify", invocation)}`),
  ].join("\n");
  return { document: repair, text };
}

/** Copies the file of a store while others may use it. */
export async function backupFile(invocation: Invocation): Promise<Answer> {
  const [to = ""] = invocation.args;
  const { file } = await findFile(invocation, "back up");
  const copy = resolve(invocation.cwd, to);
  if (existsSync(copy)) throw usageError(`Cannot back up to ${to}: there is a file already; name another`);
  const { backupSqlite } = await import("../../store/sqlite/backup-sqlite.ts");
  invocation.terminal.showStatus("Copying …");
  const bytes = await backupSqlite(file, copy, toCopyNotes(resolveKitbagHome(invocation.env)));
  return { document: { file, copy, bytes }, text: toPrintable(`Copied ${showBytes(bytes)} to ${to}`) };
}

/** The file of the store; a server has tools of its own. */
async function findFile(invocation: Invocation, verb: string): Promise<SqliteChoice> {
  const named = findNamedStore(invocation);
  if (named === undefined && (await loadTrustedOptions(invocation)).store !== undefined) {
    throw usageError(`Cannot ${verb} the store of the configuration: name its file with --store sqlite:FILE`);
  }
  const choice = checkKept(named ?? defaultStore(invocation));
  hideSqliteWarning();
  if (choice.kind === "sqlite") return choice;
  throw usageError(
    `Cannot ${verb} a store in Postgres: use the database's own tools, such as pg_dump; export works everywhere`,
  );
}
