import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import { sqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { readAudit } from "./export-audit.ts";
import { verifyAudit } from "./verify-audit.ts";

const writer = resolve(import.meta.dirname, "../../../test/crash/programs/audit-writer.ts");

test("append() of several processes makes one chain, in which everything is that was acknowledged", async () => {
  const place = await makePlace();

  const writers = ["a", "b", "c"].map((name) => startWriter(place, name, 60));
  const said = await Promise.all(writers.map(({ output }) => output));

  const { calls, verdict } = await readPlace(place);
  expect(said.flat().length).toBe(180);
  expect(new Set(calls)).toEqual(new Set(said.flat()));
  expect(verdict).toMatchObject({ ok: true, count: 180, anchored: 180 });
});

test("append() has on disk what it acknowledged when its process is killed, and the next one goes on", async () => {
  const place = await makePlace();

  for (const name of ["a", "b", "c"]) {
    const { child, output } = startWriter(place, name, 100_000);
    child.stdout?.once("data", () => setTimeout(() => child.kill("SIGKILL"), 50 + Math.random() * 100));
    const said = await output;
    const { calls, verdict } = await readPlace(place);

    expect(said.length).toBeGreaterThan(0);
    expect(said.filter((call) => !calls.includes(call))).toEqual([]);
    expect(verdict).toMatchObject({ ok: true, count: calls.length });
  }
});

interface Place {
  readonly file: string;
  readonly keyFile: string;
  readonly anchorFile: string;
}

async function makePlace(): Promise<Place> {
  const home = await mkdtemp(join(tmpdir(), "kitbag-audit-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return {
    file: join(home, "kitbag.db"),
    keyFile: join(home, "audit.key"),
    anchorFile: join(home, "audit.head"),
  };
}

function startWriter(place: Place, name: string, count: number): { child: ChildProcess; output: Promise<string[]> } {
  const parameters = [place.file, place.keyFile, place.anchorFile, name, String(count)];
  const child = spawn(process.execPath, ["--conditions=@kitbag/source", writer, ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const output = Promise.all([text(child.stdout), once(child, "close")]).then(([all]) =>
    // The last line may be cut.
    all.split("\n").slice(0, -1),
  );
  return { child, output };
}

async function readPlace(place: Place): Promise<{ calls: string[]; verdict: Awaited<ReturnType<typeof verifyAudit>> }> {
  const store = await sqliteStore(place);
  const calls: string[] = [];
  for await (const line of readAudit(store)) if (line.type !== "set-aside") calls.push(line.call);
  const verdict = await verifyAudit(store, place);
  await store.close();
  return { calls, verdict };
}
