import { KitbagError } from "../core/errors.ts";
import type { Store, WriteOptions } from "../core/store.ts";
import {
  createExportLines,
  type ExportCounts,
  type ExportLine,
  type ExportLines,
  exportVersion,
} from "./export-store.ts";
import { storeIdKey } from "./store-id.ts";

/** How many writes are under way at the same time. */
const writesAtOnce = 256;

type Parts = Pick<Store, "kv" | "log" | "blobs">;

/**
 * Reads what `exportStore` has written into a store that is empty. Entries keep their order and their time.
 *
 * @throws {KitbagError} `store-conflict` if there is something in the store; `store-value-invalid` with the number of the line if
 * the export is not complete or not one; what the store rejects with. Then the store has a part of it: throw it away.
 */
export async function importStore(store: Parts, source: AsyncIterable<Uint8Array>): Promise<ExportCounts> {
  await checkEmpty(store);
  const lines = createExportLines(source);
  const writes = createWrites();
  const counts = { values: 0, entries: 0, blobs: 0 };
  await checkHead(lines);
  for (;;) {
    const line = await lines.next();
    switch (line?.type) {
      case "value":
        counts.values += 1;
        // A store that is imported into is another one.
        if (line.key !== storeIdKey) await writes.add(store.kv.set(line.key, line.value, toOptions(line)));
        break;
      case "entry":
        counts.entries += 1;
        await writes.add(store.log.append(line.stream, [line.value], { time: toTime(lines, line) }));
        break;
      case "blob":
        counts.blobs += 1;
        await importBlob(store, lines, line);
        break;
      case "end":
        await writes.all();
        await checkEnd(lines, line, counts);
        return counts;
      case "store":
      case "bytes":
      case undefined:
        throw lines.wrong("a value, an entry, a blob or the end", line?.type ?? "the end of the file");
    }
  }
}

async function checkEmpty({ kv, log, blobs }: Parts): Promise<void> {
  const value = (await kv.list({ limit: 2 })).find(([key]) => key !== storeIdKey);
  const [stream] = await log.streams({ limit: 1 });
  const [blob] = await blobs.list({ limit: 1 });
  const found = value?.[0] ?? stream ?? blob;
  if (found !== undefined) {
    throw new KitbagError("store-conflict", { where: found, expected: "an empty store", found: "something in it" });
  }
}

async function checkHead(lines: ExportLines): Promise<void> {
  const head = await lines.next();
  if (head?.type !== "store") throw lines.wrong('a line of type "store"', head?.type ?? "nothing");
  if (head.version !== exportVersion) throw lines.wrong(`version ${exportVersion}`, `version ${String(head.version)}`);
}

async function checkEnd(lines: ExportLines, end: ExportCounts, found: ExportCounts): Promise<void> {
  const [told, read] = [end, found].map(
    (counts) => `${counts.values} values, ${counts.entries} entries, ${counts.blobs} blobs`,
  );
  if (told !== read) throw lines.wrong(String(told), String(read));
  if (await lines.next()) throw lines.wrong("nothing after the end", "another line");
}

function toOptions({ expiresInMs }: { readonly expiresInMs?: number }): WriteOptions {
  return expiresInMs === undefined ? {} : { expiresInMs };
}

function toTime(lines: ExportLines, { time }: Extract<ExportLine, { type: "entry" }>): number {
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw lines.wrong('milliseconds since 1970 as "time"', String(time));
}

async function importBlob(
  { blobs }: Pick<Store, "blobs">,
  lines: ExportLines,
  { digest, size }: Extract<ExportLine, { type: "blob" }>,
): Promise<void> {
  async function* readBytes(): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0;) {
      const line = await lines.next();
      if (line?.type !== "bytes")
        throw lines.wrong(`${left} more bytes of ${digest}`, line?.type ?? "the end of the file");
      const bytes = Buffer.from(line.base64, "base64");
      if (bytes.length === 0 || bytes.length > left) throw lines.wrong(`1 to ${left} bytes`, `${bytes.length}`);
      left -= bytes.length;
      yield bytes;
    }
  }
  const found = await blobs.put(readBytes());
  if (found !== digest) throw lines.wrong(`the bytes of ${digest}`, `those of ${found}`);
}

/** Writes that are under way: some at the same time, so that a store can put them together. */
function createWrites() {
  const pending: Promise<unknown>[] = [];

  async function all(): Promise<void> {
    await Promise.all(pending.splice(0));
  }

  return {
    all,
    async add(write: Promise<unknown>): Promise<void> {
      // Seen when all are awaited, which may be never if a line is wrong.
      write.catch(() => undefined);
      pending.push(write);
      if (pending.length >= writesAtOnce) await all();
    },
  };
}
