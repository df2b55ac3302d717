import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";

import { measureTree, watchMemory } from "./watch-resources.ts";

const eater = `bash -c 'x=$(head -c 30000000 /dev/zero | tr "\\\\0" x); echo ready; sleep 20; :' & x=1; wait`;

test("watchMemory() tells once when a process and all it started have too much", async () => {
  const child = spawn("bash", ["-c", eater], { stdio: ["pipe", "pipe", "ignore"], detached: true });
  onTestFinished(() => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL")));
  const limits = { memoryBytes: 20_000_000, temporaryBytes: 0 };
  let told = 0;
  const stop = watchMemory({ pid: child.pid ?? 0, limits }, () => told++);
  onTestFinished(stop);

  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, 500));

  expect(told).toBe(1);
  expect(measureTree(child.pid ?? 0)).toBeGreaterThan(20_000_000);
});

test("measureTree() finds nothing of a process that is gone", () => {
  expect(measureTree(999_999_999)).toBe(0);
});

test("watchMemory() does not take the address space of a process that ends for memory", async () => {
  const limits = { memoryBytes: 300_000_000, temporaryBytes: 0 };
  let told = 0;
  const node = (): ReturnType<typeof spawn> => spawn(process.execPath, ["-e", "0"], { stdio: "ignore" });

  for (let round = 0; round < 8; round++) {
    const children = [node(), node()];
    const stops = children.map(({ pid }) => watchMemory({ pid: pid ?? 0, limits, everyMs: 1 }, () => told++));
    await Promise.all(children.map((child) => once(child, "exit")));
    for (const stop of stops) stop();
  }

  expect(told).toBe(0);
});
