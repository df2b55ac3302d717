import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { startCrashProgram } from "../../test/crash/start-crash-program.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import { takeFileLock, withFileLock } from "./file-lock.ts";

test(
  "withFileLock() lets one of five processes in at a time, also after a holder was killed",
  { timeout: 60_000 },
  async () => {
    const { lock, counter } = createPlace();
    for (let round = 0; round < 3; round++) {
      const holder = startCrashProgram("count-under-lock.ts", [lock, counter]);
      await holder.waitFor("held");
      const counters = Array.from({ length: 5 }, () => startCrashProgram("count-under-lock.ts", [lock, counter, "20"]));
      await Promise.all(counters.map((program) => program.waitFor("ready")));

      holder.signal("SIGKILL");
      await Promise.all(counters.map((program) => program.waitFor("done")));
    }

    expect(readFileSync(counter, "utf8")).toBe("300");
    expect(readdirSync(dirname(lock))).toEqual(["counter"]);
  },
);

test("withFileLock() takes nothing from a holder that needs longer than 5 s", { timeout: 60_000 }, async () => {
  const { lock, counter } = createPlace();
  const slow = startCrashProgram("count-under-lock.ts", [lock, counter, "1", "7000"]);
  await slow.waitFor("ready");
  await expect.poll(() => readdirSync(dirname(lock)), { timeout: 20_000 }).toContain("lock");

  await withFileLock(lock, () => writeFileSync(counter, String(Number(readFileSync(counter, "utf8")) + 1)));
  await slow.waitFor("done");

  expect(readFileSync(counter, "utf8")).toBe("2");
});

test("takeFileLock() lets one in at a time within a process, and leaves nothing", async () => {
  const { lock } = createPlace();

  expect(await countMost(lock)).toBe(1);
  expect(readdirSync(dirname(lock))).toEqual(["counter"]);
});

test("takeFileLock() says once that it waits, and leaves when it is aborted", async () => {
  const { lock } = createPlace();
  const release = await takeFileLock(lock);
  const stop = new AbortController();
  let waits = 0;
  const onWait = (): void => {
    waits++;
    setTimeout(() => stop.abort(new Error("enough")), 100);
  };

  await expect(takeFileLock(lock, { signal: stop.signal, onWait })).rejects.toThrow();

  expect([waits, readdirSync(dirname(lock))]).toEqual([1, ["counter", "lock"]]);
  release();
});

test("takeFileLock() takes over from a process that is gone", async () => {
  const { lock } = createPlace();
  const child = spawn("true");
  await once(child, "exit");
  await leaveLock(lock, { pid: child.pid ?? 0, start: "1" });

  expect(await countMost(lock)).toBe(1);
});

test("takeFileLock() takes over when the number of the process belongs to another one by now", async () => {
  const { lock } = createPlace();
  await leaveLock(lock, { pid: process.pid, start: "1" });

  expect(await countMost(lock)).toBe(1);
});

test.for(["", '{"token":', "machine"])(
  "takeFileLock() waits for an owner that it cannot look up until that is silent for long: %j",
  async (text) => {
    const { lock } = createPlace();
    if (text === "machine") await leaveLock(lock, { machine: "elsewhere", pid: 1, start: "1" });
    else writeFileSync(lock, text);

    await expect(takeFileLock(lock, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
    const long = new Date(Date.now() - 120_000);
    utimesSync(lock, long, long);

    expect(await countMost(lock)).toBe(1);
  },
);

test("takeFileLock() gives back nothing that another program took over", async () => {
  const { lock } = createPlace();
  const release = await takeFileLock(lock);
  writeFileSync(lock, "of another program");

  release();

  expect(readFileSync(lock, "utf8")).toBe("of another program");
});

interface Place {
  readonly lock: string;
  readonly counter: string;
}

function createPlace(): Place {
  const folder = createFolder({ counter: "0" });
  return { lock: join(folder, "lock"), counter: join(folder, "counter") };
}

/** How many of eight were inside at once. */
async function countMost(lock: string): Promise<number> {
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const release = await takeFileLock(lock);
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
      release();
    }),
  );
  return most;
}

/** A lock that another process holds: as this process would, but for what is given. */
async function leaveLock(lock: string, owner: { machine?: string; pid: number; start: string }): Promise<void> {
  const release = await takeFileLock(lock);
  const own = JSON.parse(readFileSync(lock, "utf8")) as Record<string, unknown>;
  release();
  writeFileSync(lock, JSON.stringify({ ...own, token: "00000000-0000-0000-0000-000000000000", ...owner }));
}
