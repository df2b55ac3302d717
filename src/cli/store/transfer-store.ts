import { createReadStream, existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";

import { plural } from "../render.ts";
import { type ErrorDetails, isKitbagError } from "../../core/errors.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type ExportCounts, exportStore } from "../../store/export-store.ts";
import { importStore } from "../../store/import-store.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { loadTrustedOptions } from "../config/open-workspace.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { anchorStore, explainVerdict, takeStore } from "./accept-store.ts";
import {
  checkThere,
  defaultStore,
  findNamedStore,
  type KeptChoice,
  nameStore,
  type SqliteChoice,
} from "./choose-store.ts";
import { checkKept, withKept } from "./open-kept.ts";
import { openStore, toStoreFiles } from "./open-store.ts";
import { tellSetAside } from "./verify-kept.ts";
import { toLinesFile, writeLines } from "./write-lines.ts";

/** Reads an export into a store that is empty. A file that is new is there only when all of it is. */
export async function importKept(invocation: Invocation): Promise<Answer> {
  const choice = checkKept(findNamedStore(invocation) ?? defaultStore(invocation));
  const [from = ""] = invocation.args;
  const source = openSource(from, invocation);
  const isNew = choice.kind === "sqlite" && !existsSync(choice.file);
  const counts = isNew ? await importNew(choice, source, invocation) : await importInto(choice, source, invocation);
  const audit = await anchorImported(choice, invocation);
  const name = nameStore(choice);
  const text = `Read ${showCounts(counts)} into ${name}${audit.text}`;
  return { document: { store: name, ...counts, audit: audit.document }, text: toPrintable(text) };
}

function openSource(from: string, { cwd }: Invocation): Readable {
  if (from === "-") return process.stdin;
  const path = resolve(cwd, from);
  if (!existsSync(path)) throw usageError(`Cannot import ${from}: there is no such file`);
  return createReadStream(path);
}

async function importNew(choice: SqliteChoice, source: Readable, invocation: Invocation): Promise<ExportCounts> {
  const draft = { ...choice, file: `${choice.file}.import-${process.pid}` };
  try {
    const counts = await importInto(draft, source, invocation);
    renameSync(draft.file, choice.file);
    return counts;
  } finally {
    for (const path of toStoreFiles(draft)) rmSync(path, { force: true });
  }
}

async function importInto(choice: KeptChoice, source: Readable, { terminal, args }: Invocation): Promise<ExportCounts> {
  const store = await openStore(choice);
  try {
    return await importStore(
      store,
      countBytes(source, (bytes) => terminal.showStatus(`Read ${bytes} bytes`)),
    );
  } catch (cause) {
    if (isKitbagError(cause, "store-value-invalid")) throw explainLine(cause.details, args[0] ?? "");
    if (!isKitbagError(cause, "store-conflict")) throw cause;
    throw usageError(
      `Cannot import into ${nameStore(choice)}: there is something in it; name an empty store, or a new file, with --store`,
    );
  } finally {
    await store.close();
  }
}

/** Says which line of the file is wrong, and not what a store does not keep. */
function explainLine({ where, problems: [problem] }: ErrorDetails["store-value-invalid"], file: string): Error {
  const name = file === "-" ? "standard input" : file;
  const place = where.replace(/ of the export$/u, "");
  const reason = `${place}: expected ${problem?.expected ?? "something else"}, found ${problem?.found ?? "it"}`;
  return usageError(`Cannot import ${name}: ${reason}`);
}

async function* countBytes(source: Readable, tell: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += (piece as Uint8Array).length;
    tell(bytes);
    yield piece as Uint8Array;
  }
}

/** Says where the audit that was imported ends, if it is good. */
async function anchorImported(
  choice: KeptChoice,
  invocation: Invocation,
): Promise<{ readonly document: unknown; readonly text: string }> {
  const { verdict } = await takeStore(choice, resolveKitbagHome(invocation.env), anchorStore);
  if (!verdict.ok)
    return { document: verdict, text: `\nNo call can be recorded in it yet: ${explainVerdict(verdict, invocation)}` };
  if (verdict.count === 0) return { document: undefined, text: "" };
  const text = [`Its audit is good: ${verdict.count} entries`, ...tellSetAside(verdict)].join("\n");
  return { document: verdict, text: `\n${text}` };
}

/** Writes all that a store keeps as lines of JSON. */
export async function exportKept(invocation: Invocation): Promise<Answer> {
  const file = toLinesFile(invocation.args[0]);
  const named = findNamedStore(invocation);
  // In the wrong folder an error helps more than an empty file.
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
function showCounts({ values, entries, blobs }: ExportCounts): string {
  return `${plural(values, "value")}, ${plural(entries, "log entry", "log entries")} and ${plural(blobs, "blob")}`;
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
