import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { createFolder } from "../../../test/support/temporary-folder.ts";
import { takeInstallLock } from "./install-lock.ts";

const signal = new AbortController().signal;

test("takeInstallLock() lets one in at a time", async () => {
  const path = join(createFolder(), "lock");
  let inside = 0;
  let most = 0;
  const visit = async (): Promise<void> => {
    const release = await takeInstallLock(path, { signal });
    inside++;
    most = Math.max(most, inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside--;
    await release();
  };

  await Promise.all(Array.from({ length: 6 }, visit));

  expect(most).toBe(1);
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("takeInstallLock() says once that it waits, and leaves when it is aborted", async () => {
  const path = join(createFolder(), "lock");
  const release = await takeInstallLock(path, { signal });
  const stop = new AbortController();
  let waits = 0;
  const onWait = (): void => {
    waits++;
    setTimeout(() => stop.abort(new Error("enough")), 250);
  };

  const attempt = takeInstallLock(path, { signal: stop.signal, onWait });

  await expect(attempt).rejects.toThrow();
  expect(waits).toBe(1);
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
  await release();
});

test("takeInstallLock() takes over from a process that is gone", async () => {
  const path = join(createFolder(), "lock");
  const child = spawn("true");
  await once(child, "exit");
  await leaveLock(path, { pid: child.pid ?? 0, start: "1" });

  const release = await takeInstallLock(path, { signal });

  expect(JSON.parse(readFileSync(join(path, "owner"), "utf8"))).toMatchObject({ pid: process.pid });
  await release();
  expect(existsSync(path)).toBe(false);
});

test("takeInstallLock() takes over when the number of the process belongs to another one by now", async () => {
  const path = join(createFolder(), "lock");
  await leaveLock(path, { pid: process.pid, start: "1" });

  const release = await takeInstallLock(path, { signal });

  await release();
  expect(existsSync(path)).toBe(false);
});

test("takeInstallLock() waits for another machine until it has been silent for long", async () => {
  const path = join(createFolder(), "lock");
  await leaveLock(path, { machine: "elsewhere", pid: 1, start: "1" });
  const stop = AbortSignal.timeout(200);

  await expect(takeInstallLock(path, { signal: stop })).rejects.toThrow();
  const long = new Date(Date.now() - 120_000);
  utimesSync(join(path, "owner"), long, long);
  const release = await takeInstallLock(path, { signal });

  await release();
  expect(existsSync(path)).toBe(false);
});

test("takeInstallLock() lets only one of many take over", async () => {
  const path = join(createFolder(), "lock");
  await leaveLock(path, { pid: process.pid, start: "1" });
  let inside = 0;
  let most = 0;

  await Promise.all(
    Array.from({ length: 8 }, async () => {
      const release = await takeInstallLock(path, { signal });
      inside++;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
      await release();
    }),
  );

  expect(most).toBe(1);
});

/** A lock that somebody holds: as this process would, but for what is given. */
async function leaveLock(path: string, owner: { machine?: string; pid: number; start: string }): Promise<void> {
  const release = await takeInstallLock(path, { signal });
  const own = JSON.parse(readFileSync(join(path, "owner"), "utf8")) as Record<string, unknown>;
  await release();
  mkdirSync(path);
  writeFileSync(join(path, "owner"), JSON.stringify({ ...own, token: "other", ...owner }));
}
