import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test, type TestContext } from "vitest";

import { needProgram } from "../support/need-program.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { startCrashProgram } from "./start-crash-program.ts";

test("sqliteStore() has everything on disk before it acknowledges it", { timeout: 120_000 }, async (context) => {
  const trace = await traceWriter(context, "write-records.ts", 50);

  expect(trace.acknowledged).toBe(50);
  expect(trace.unsynced).toBe(0);
  expect(trace.syncs).toBeGreaterThanOrEqual(50);
});

test("log.append() has on disk what must be, also after many writes that need not be", async (context) => {
  const trace = await traceWriter(context, "write-both.ts", 50);

  expect(trace.acknowledged).toBe(50);
  expect(trace.unsynced).toBe(0);
  expect(trace.syncs).toBeGreaterThanOrEqual(50);
  // Each is followed by five that do not wait.
  expect(trace.syncs).toBeLessThan(150);
}, 120_000);

test("call() has its record on disk before it answers", { timeout: 120_000 }, async (context) => {
  const trace = await traceWriter(context, "call-recorded.ts", 50);

  expect(trace.acknowledged).toBe(50);
  expect(trace.unsynced).toBe(0);
  expect(trace.syncs).toBeGreaterThanOrEqual(50);
});

test(
  "call() has the record and the audit on disk, and its anchor written, before a tool runs and before it answers",
  {
    timeout: 120_000,
  },
  async (context) => {
    const trace = await traceWriter(context, "call-audited.ts", 25);

    expect(trace.acknowledged).toBe(50);
    expect(trace.unsynced).toBe(0);
    expect(trace.syncs).toBeGreaterThanOrEqual(50);
    expect(trace.unanchored).toBe(0);
    expect(trace.isAnchorSynced).toBe(true);
  },
);

test("openAudit() has its anchor on disk when a program ends that never closed it", async (context) => {
  const trace = await traceWriter(context, "leave-audit-open.ts", 1);

  expect(trace.acknowledged).toBe(1);
  expect(trace.unanchored).toBe(0);
  expect(trace.isAnchorSynced).toBe(true);
}, 120_000);

test("the first test finds a writer that acknowledges what is not on disk", { timeout: 120_000 }, async (context) => {
  const trace = await traceWriter(context, "write-unsynced.ts", 50);

  expect(trace.acknowledged).toBe(50);
  expect(trace.unsynced).toBeGreaterThan(40);
});

interface Trace {
  readonly acknowledged: number;
  /** How many of them came while something of the file or its log was written and not synced, or without any sync. */
  readonly unsynced: number;
  readonly syncs: number;
  /** How many of them came while nothing new was in the anchor. */
  readonly unanchored: number;
  /** Whether it was on disk in the end. */
  readonly isAnchorSynced: boolean;
}

/** Runs a writer under strace, and looks at what it asked the kernel for, in order. */
async function traceWriter(context: TestContext, program: string, count: number): Promise<Trace> {
  needProgram(context, "strace");
  const folder = createFolder();
  const file = join(folder, "kitbag.db");
  const output = join(folder, "trace");
  const before = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,write,pwrite64", "-o", output];
  await startCrashProgram(program, [file, "1", String(count)], before).gone;

  return readTrace(readFileSync(output, "utf8"), file);
}

function readTrace(text: string, file: string): Trace {
  const anchor = `${file}.head`;
  const lines = text.split("\n").map(parseLine);
  const isOfStore = ({ path }: TraceLine): boolean =>
    path.startsWith(file) && path !== anchor && !path.endsWith("-shm");
  return { ...readSyncs(lines, isOfStore), ...readAnchor(lines, anchor) };
}

function readSyncs(
  lines: readonly TraceLine[],
  isOfStore: (line: TraceLine) => boolean,
): Pick<Trace, "acknowledged" | "unsynced" | "syncs"> {
  const unsynced = new Set<string>();
  /** What a thread is just syncing: it is done on a line of its own, if another thread did something meanwhile. */
  const syncing = new Map<string, string>();
  const trace = { acknowledged: 0, unsynced: 0, syncs: 0 };
  let syncsSince = 0;
  for (const line of lines) {
    const { thread, call, path, isAcknowledgement, isOk } = line;
    const isOurs = isOfStore(line);
    if (isOurs && call.endsWith("sync")) syncing.set(thread, path);
    else if (isOurs) unsynced.add(path);
    else if (isAcknowledgement) {
      trace.acknowledged += 1;
      if (unsynced.size > 0 || syncsSince === 0) trace.unsynced += 1;
      syncsSince = 0;
    }
    if (!call.endsWith("sync") || !isOk || !syncing.has(thread)) continue;
    unsynced.delete(syncing.get(thread) ?? "");
    syncing.delete(thread);
    syncsSince += 1;
    trace.syncs += 1;
  }
  return trace;
}

function readAnchor(lines: readonly TraceLine[], anchor: string): Pick<Trace, "unanchored" | "isAnchorSynced"> {
  const trace = { unanchored: 0, isAnchorSynced: true };
  let isNew = false;
  for (const { call, path, isAcknowledgement } of lines) {
    if (path === anchor) {
      isNew ||= call.includes("write");
      trace.isAnchorSynced = call.endsWith("sync");
    } else if (isAcknowledgement) {
      if (!isNew) trace.unanchored += 1;
      isNew = false;
    }
  }
  return trace;
}

interface TraceLine {
  readonly thread: string;
  readonly call: string;
  readonly path: string;
  /** Whether the program says that something is done. */
  readonly isAcknowledgement: boolean;
  readonly isOk: boolean;
}

/** Reads `17 fsync(3</path>) = 0`, and also `17 <... fsync resumed>) = 0`. */
function parseLine(line: string): TraceLine {
  const [, thread = "", call = "", path = "", rest = ""] =
    /^(\d+) +(?:<\.\.\. )?(\w+)(?:\(\d+<([^>]*)>| resumed>)(.*)/u.exec(line) ?? [];
  return { thread, call, path, isAcknowledgement: rest.includes('"log '), isOk: rest.endsWith(" = 0") };
}
