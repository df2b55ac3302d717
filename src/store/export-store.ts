import type { Store } from "../core/store.ts";
import { storeIdKey } from "./store-id.ts";
import { exportVersion, type ExportCounts, type ExportLine } from "./export-line.ts";

/** How many values or entries are asked for at once. */
const page = 500;

/** How many bytes of a blob are in one line. */
const bytesPerLine = 192 * 1024;

/** Takes the lines of an export, each with its line feed; the next one comes when it is done. */
export type ExportSink = (line: string) => void | Promise<void>;

type Parts = Pick<Store, "kv" | "log" | "blobs">;

/**
 * Writes all that a store keeps as lines of JSON, which {@link importStore} reads into any other store: values with what is left of
 * their time, entries, blobs; not the id of the store. Never more than a small part is in memory. What is written to the store meanwhile may be in it or
 * not. Queues are not in it: they carry ids only, and what is to be done is in the log.
 *
 * @throws {KitbagError} what the store rejects with; and whatever `sink` throws. Without its last line it is not complete, and
 * {@link importStore} says so.
 */
export async function exportStore(store: Parts, sink: ExportSink): Promise<ExportCounts> {
  const write = async (line: ExportLine): Promise<void> => sink(`${JSON.stringify(line)}\n`);
  await write({ type: "store", version: exportVersion });
  const values = await exportValues(store, write);
  const entries = await exportEntries(store, write);
  const blobs = await exportBlobs(store, write);
  await write({ type: "end", values, entries, blobs });
  return { values, entries, blobs };
}

type Write = (line: ExportLine) => Promise<void>;

async function exportValues({ kv }: Parts, write: Write): Promise<number> {
  let count = 0;
  const list = (after: string) => kv.list({ after, limit: page });
  for (let found = await list(""); found.length > 0; found = await list(found.at(-1)?.[0] ?? "")) {
    for (const [key, { value, expiresInMs }] of found) {
      if (key === storeIdKey) continue;
      await write({ type: "value", key, value, ...(expiresInMs !== undefined && { expiresInMs }) });
      count += 1;
    }
  }
  return count;
}

async function exportEntries({ log }: Parts, write: Write): Promise<number> {
  let count = 0;
  const list = (after: string) => log.streams({ after, limit: page });
  for (let names = await list(""); names.length > 0; names = await list(names.at(-1) ?? "")) {
    for (const stream of names) count += await exportStream({ log }, stream, write);
  }
  return count;
}

async function exportStream({ log }: Pick<Store, "log">, stream: string, write: Write): Promise<number> {
  let after = 0;
  for (;;) {
    const entries = await log.read(stream, { after, limit: page });
    if (entries.length === 0) return after;
    for (const { time, value } of entries) await write({ type: "entry", stream, time, value });
    after += entries.length;
  }
}

async function exportBlobs({ blobs }: Parts, write: Write): Promise<number> {
  let count = 0;
  const list = (after: string) => blobs.list({ after, limit: page });
  for (let digests = await list(""); digests.length > 0; digests = await list(digests.at(-1) ?? "")) {
    for (const digest of digests) if (await exportBlob({ blobs }, digest, write)) count += 1;
  }
  return count;
}

/** Answers whether it was there: somebody may have collected it meanwhile. */
async function exportBlob({ blobs }: Pick<Store, "blobs">, digest: string, write: Write): Promise<boolean> {
  const size = await blobs.size(digest);
  if (size === undefined) return false;
  await write({ type: "blob", digest, size });
  for (let offset = 0; offset < size; offset += bytesPerLine) {
    const bytes = await blobs.slice(digest, offset, bytesPerLine);
    // Half of it is written, so the export cannot be completed any more.
    if (!bytes) throw new Error(`The blob ${digest} was collected while it was exported: export again`);
    await write({ type: "bytes", base64: Buffer.from(bytes).toString("base64") });
  }
  return true;
}
