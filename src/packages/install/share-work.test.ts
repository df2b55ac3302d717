import { expect, test } from "vitest";

import { shareWork } from "./create-dependencies.ts";

test("shareWork() does the work of a key once for all who ask at the same time, and again for those who come later", async () => {
  const share = shareWork<number>();
  let done = 0;
  const work = async (): Promise<number> => ++done;

  const together = await Promise.all([share("a", work), share("a", work), share("b", work)]);
  const later = await share("a", work);

  expect(together).toEqual([1, 1, 2]);
  expect(later).toBe(3);
});

test("shareWork() stops the work when the last one has left, and waits until it has stopped", async () => {
  const share = shareWork<number>();
  const [one, two] = [new AbortController(), new AbortController()];
  let stopped = false;
  const work = (signal: AbortSignal): Promise<number> =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        setTimeout(() => {
          stopped = true;
          reject(new Error("stopped"));
        }, 10);
      });
    });

  const first = share("a", work, one.signal);
  const second = share("a", work, two.signal);
  one.abort(new Error("one left"));
  await expect(first).rejects.toThrow("one left");
  const before = stopped;
  two.abort(new Error("two left"));
  await expect(second).rejects.toThrow("two left");

  expect([before, stopped]).toEqual([false, true]);
});

test("shareWork() starts anew for whoever asks while the work is being stopped", async () => {
  const share = shareWork<string>();
  const stop = new AbortController();
  let starts = 0;
  const work = (signal: AbortSignal): Promise<string> => {
    starts++;
    if (starts === 2) return Promise.resolve("new");
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => setTimeout(() => reject(new Error("old")), 20));
    });
  };

  const left = share("a", work, stop.signal);
  stop.abort(new Error("left"));
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, 5));

  expect(await share("a", work)).toBe("new");
  await expect(left).rejects.toThrow("left");
});

test("shareWork() tries again after a failure, and does not start for those who are gone already", async () => {
  const share = shareWork<string>();
  let starts = 0;
  const work = async (): Promise<string> => {
    starts++;
    if (starts === 1) throw new Error("first");
    return "second";
  };

  await expect(share("a", work)).rejects.toThrow("first");
  await expect(share("a", work, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  expect(await share("a", work)).toBe("second");
  expect(starts).toBe(2);
});
