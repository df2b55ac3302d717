import { exportStore } from "../../store/export-store.ts";
import type { ExportCounts } from "../../store/export-line.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { defaultStore, findNamedStore } from "./choose-store.ts";
import { checkThere } from "./check-there.ts";
import { createCounter } from "./create-counter.ts";
import { withKept } from "./open-kept.ts";
import { toLinesFile, writeLines } from "./write-lines.ts";

/** Writes all that a store keeps as lines of JSON. */
export async function exportKept(invocation: Invocation): Promise<Answer> {
  const file = toLinesFile(invocation.args[0]);
  const named = findNamedStore(invocation);
  // Nobody wants a file with nothing in it because he is in another folder than he thinks.
  if (named !== undefined || (await loadTrustedOptions(invocation)).store === undefined) {
    checkThere(named ?? defaultStore(invocation));
  }
  const counts = await withKept(invocation, ({ store }) =>
    writeLines(file, invocation, (sink) => {
      const tick = createCounter("Exported", invocation.terminal);
      return exportStore(store, (line) => {
        tick();
        return sink(line);
      });
    }),
  );
  if (file === undefined) return { document: counts };
  return { document: { file, ...counts }, text: toPrintable(`Wrote ${showCounts(counts)} to ${file}`) };
}

/** How much was exported or imported, in words. */
export function showCounts({ values, entries, blobs }: ExportCounts): string {
  return `${count(values, "value", "values")}, ${count(entries, "log entry", "log entries")} and ${count(blobs, "blob", "blobs")}`;
}

function count(number: number, one: string, more: string): string {
  return `${number} ${number === 1 ? one : more}`;
}
