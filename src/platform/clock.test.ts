import { expect, test } from "vitest";

import { machineClock, toAbortError, wait } from "./clock.ts";

test("wait() waits, and rejects with the reason of a signal", async () => {
  const stop = new AbortController();
  const long = wait(machineClock, 60_000, stop.signal);

  await wait(machineClock, 1, stop.signal);
  stop.abort(new Error("stopped"));

  await expect(long).rejects.toThrow("stopped");
  await expect(wait(machineClock, 60_000, stop.signal)).rejects.toThrow("stopped");
});

test("machineClock counts in milliseconds, and stops timers", async () => {
  let calls = 0;
  const start = machineClock.elapsed();
  machineClock.after(1, () => calls++, { unref: true })();
  machineClock.after(2, () => calls++);

  await wait(machineClock, 20);

  expect(calls).toBe(1);
  expect(machineClock.elapsed() - start).toBeGreaterThanOrEqual(19);
  expect(Math.abs(machineClock.now() - Date.now())).toBeLessThan(5000);
});

test("toAbortError() makes an error of any reason", () => {
  const error = new Error("own");

  expect(toAbortError(error)).toBe(error);
  expect(toAbortError(undefined)).toMatchObject({ name: "AbortError", message: "The call was cancelled" });
  expect(toAbortError("enough")).toMatchObject({ name: "AbortError", message: "enough" });
});
