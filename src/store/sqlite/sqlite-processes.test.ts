import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { afterEach, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { checkSqlite } from "./check-sqlite.ts";
import { sqliteStore } from "./sqlite-store.ts";

const run = promisify(execFile);
const program = resolve(import.meta.dirname, "../../../test/crash/programs/write-with-others.ts");
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

test("sqliteStore() loses nothing when four processes write into one file", { timeout: 120_000 }, async () => {
  const file = freshFile();
  const rounds = 50;
  const names = ["a", "b", "c", "d"];
  const store = await sqliteStore({ file });
  const jobs = Array.from({ length: 100 }, (_, index) => `job-${index}`);
  await Promise.all(jobs.map((job) => store.queue("jobs").add(job)));

  const written = await Promise.all(names.map((name) => writeInProcess(file, name, rounds)));

  const won = written.reduce((sum, process) => sum + process.won, 0);
  const versions = written.flatMap((process) => process.versions);
  const entries = await store.log.read("shared", { limit: 10_000 });
  expect((await store.kv.get("counter"))?.value).toBe(names.length * rounds);
  expect((await store.kv.get("compared"))?.value).toBe(won);
  expect(new Set(versions).size).toBe(names.length * rounds);
  for (const own of written) expect(own.versions).toEqual(own.versions.toSorted((left, right) => left - right));
  expect(entries.map(({ position }) => position)).toEqual(entries.map((_, index) => index + 1));
  expect(entries).toHaveLength(names.length * rounds * 2);
  for (let index = 0; index < entries.length; index += 2)
    expect(entries[index]?.value).toEqual(entries[index + 1]?.value);
  for (const name of names) expect(await store.log.position(`own:${name}`)).toBe(rounds);
  expect(written.flatMap((process) => process.jobs).toSorted()).toEqual(jobs.toSorted());
  await store.close();
  expect(await checkSqlite(file)).toEqual({ file, problems: [] });
});

test("sqliteStore() has each write on disk before it is acknowledged", { timeout: 60_000 }, async (context) => {
  needProgram(context, "strace");
  const file = freshFile();
  const trace = `${file}.trace`;
  const source = `
    import { writeSync } from "node:fs";
    import { sqliteStore } from ${JSON.stringify(join(import.meta.dirname, "sqlite-store.ts"))};
    const store = await sqliteStore({ file: ${JSON.stringify(file)} });
    await store.kv.get("key");
    for (let index = 0; index < 20; index++) {
      writeSync(1, "call " + index + "\\n");
      await store.log.append("stream", [index]);
      writeSync(1, "done " + index + "\\n");
    }
    await store.close();
  `;

  const { stdout } = await run("strace", [
    ...["-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", trace],
    ...[process.execPath, "--conditions=@kitbag/source", "--input-type=module", "--eval", source],
  ]);

  expect(stdout.split("\n").filter((line) => line.startsWith("done"))).toHaveLength(20);
  expect(findUnsynced(readFileSync(trace, "utf8"))).toEqual([]);
});

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-processes-"));
  folders.push(folder);
  return join(folder, "kitbag.db");
}

/** What a process says of itself. */
interface Written {
  readonly versions: readonly number[];
  /** How often its compare-and-set was done. */
  readonly won: number;
  readonly jobs: readonly string[];
}

async function writeInProcess(file: string, name: string, count: number): Promise<Written> {
  const args = ["--conditions=@kitbag/source", "--no-warnings", program, file, name, String(count)];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout) as Written;
}

/** The acknowledgements before which the log was written but not brought to disk, or not written at all. */
function findUnsynced(trace: string): string[] {
  const unsynced: string[] = [];
  let state: "called" | "written" | "synced" = "called";
  for (const line of trace.split("\n")) {
    if (/"call \d+/.test(line)) state = "called";
    else if (/pwrite64\(.*kitbag\.db-wal/.test(line)) state = "written";
    else if (/(fsync|fdatasync)\(.*kitbag\.db-wal/.test(line) && state === "written") state = "synced";
    else if (/"done \d+/.test(line) && state !== "synced") unsynced.push(line);
  }
  return unsynced;
}
