import type { ExportCounts } from "../../store/export-line.ts";
import { exportStore } from "../../store/export-store.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { checkThere } from "./check-there.ts";
import { defaultStore, findNamedStore } from "./choose-store.ts";
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

/** What takes less time needs no progress. */
const quietMs = 300;
const pauseMs = 100;

/** Makes a function that counts, and shows how far it has come: on a terminal only, and only if it takes a while. */
function createCounter(verb: string, terminal: Pick<Terminal, "showStatus">): () => void {
  let count = 0;
  let next = performance.now() + quietMs;
  return () => {
    count += 1;
    if (performance.now() < next) return;
    next = performance.now() + pauseMs;
    terminal.showStatus(`${verb} ${count} lines`);
  };
}
