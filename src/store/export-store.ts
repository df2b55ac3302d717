import { KitbagError } from "../core/errors.ts";
import { type JsonValue, showValue } from "../core/json.ts";
import type { Store } from "../core/store.ts";
import { readLines } from "../platform/lines.ts";
import { storeIdKey } from "./store-id.ts";

/** How many values or entries are asked for at once. */
const page = 500;

/** How many bytes of a blob are in one line. */
const bytesPerLine = 192 * 1024;

/** Takes the lines of an export, each with its line feed; the next one comes when it is done. */
export type ExportSink = (line: string) => void | Promise<void>;

type Parts = Pick<Store, "kv" | "log" | "blobs">;

/**
 * Writes all that a store keeps as lines of JSON, which {@link importStore} reads into any other store: values with what is left of
 * their time, entries, blobs; not the id of the store. Only a small part is in memory at a time. Concurrent writes may be included or
 * not. Queues are not exported: they hold only ids, and the work itself is in the log.
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

/** Answers whether the blob exists: a concurrent garbage collection may have removed it. */
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

/** One line of an export, as JSON. */
export type ExportLine =
  | { readonly type: "store"; readonly version: number }
  | { readonly type: "value"; readonly key: string; readonly value: JsonValue; readonly expiresInMs?: number }
  | { readonly type: "entry"; readonly stream: string; readonly time: number; readonly value: JsonValue }
  | { readonly type: "blob"; readonly digest: string; readonly size: number }
  /** The next bytes of the blob before. */
  | { readonly type: "bytes"; readonly base64: string }
  | ({ readonly type: "end" } & ExportCounts);

/** How much an export has. */
export interface ExportCounts {
  readonly values: number;
  readonly entries: number;
  readonly blobs: number;
}

/** A value of 32 MiB may be six times as long as JSON. */
const longestLine = 256 * 1024 * 1024;

/** The version of the form of an export. */
export const exportVersion = 1;

const fields: Readonly<Record<ExportLine["type"], Readonly<Record<string, string>>>> = {
  store: { version: "number" },
  value: { key: "string" },
  entry: { stream: "string", time: "number" },
  blob: { digest: "string", size: "number" },
  bytes: { base64: "string" },
  end: { values: "number", entries: "number", blobs: "number" },
};

/** The lines of an export. */
export interface ExportLines {
  /**
   * The next line; `undefined` at the end.
   *
   * @throws {KitbagError} `store-value-invalid` if it is not a line of an export.
   */
  next(): Promise<ExportLine | undefined>;
  /** The error for the line that was read last. */
  wrong(expected: string, found: string): KitbagError;
}

/** Reads the lines of an export, whose bytes come in pieces of any size. */
export function createExportLines(source: AsyncIterable<Uint8Array>): ExportLines {
  const texts = readLines(source, { maxBytes: longestLine });
  let number = 0;

  function wrong(expected: string, found: string): KitbagError {
    const problems = [{ path: "", expected, found }];
    return new KitbagError("store-value-invalid", { where: `line ${number} of the export`, problems });
  }

  return {
    wrong,
    async next() {
      number += 1;
      const { done, value } = await texts.next().catch((cause: unknown) => {
        throw cause instanceof RangeError ? wrong(`a line of at most ${longestLine} bytes`, "a longer one") : cause;
      });
      if (done === true) return undefined;
      const line = parse(value);
      const problem = findProblem(line);
      if (problem) throw wrong(...problem);
      return line as ExportLine;
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What was expected of a line, and what was found. */
function findProblem(line: unknown): readonly [expected: string, found: string] | undefined {
  if (typeof line !== "object" || line === null) return ["a JSON object", showValue(line)];
  const type = fieldOf(line, "type");
  if (typeof type !== "string" || !Object.hasOwn(fields, type)) {
    return [`a "type" that is one of ${Object.keys(fields).join(", ")}`, showValue(type)];
  }
  for (const [name, kind] of Object.entries(fields[type as ExportLine["type"]])) {
    const found = fieldOf(line, name);
    if (typeof found !== kind) return [`a ${kind} as "${name}"`, showValue(found)];
  }
  return undefined;
}

function fieldOf(line: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(line, name)?.value;
}
