import type { BatchObservableCallback, Meter, Observable } from "@opentelemetry/api";
import { expect, test } from "vitest";

import type { Gpu } from "../../sandbox/read-gpus.ts";
import { createGpuMetrics } from "./gpu-metrics.ts";

const card: Gpu = { id: "0", name: "RTX 4090", vendor: "NVIDIA", memoryBytes: 24, usedBytes: 20, busyShare: 0.87 };

test("createGpuMetrics() measures each card whenever metrics are collected", async () => {
  const { meter, collect } = createMeter();
  const states = [[card], [card], [{ ...card, usedBytes: 5, busyShare: 0 }]];
  const watchGpus = createGpuMetrics(meter, () => Promise.resolve(states.shift() ?? []));

  await watchGpus();
  await watchGpus();

  const attributes = { "hw.id": "0", "hw.name": "RTX 4090", "hw.vendor": "NVIDIA" };
  expect(await collect()).toEqual([
    ["hw.gpu.memory.limit", 24, attributes],
    ["hw.gpu.memory.usage", 20, attributes],
    ["hw.gpu.utilization", 0.87, attributes],
  ]);
  expect((await collect()).map(([, value]) => value)).toEqual([24, 5, 0]);
  expect(await collect()).toEqual([]);
});

test("createGpuMetrics() makes nothing where no card is seen", async () => {
  const { meter, made, collect } = createMeter();

  await createGpuMetrics(meter, () => Promise.resolve([]))();

  expect([made, await collect()]).toEqual([[], []]);
});

function createMeter(): {
  readonly meter: Meter;
  readonly made: string[];
  readonly collect: () => Promise<(readonly unknown[])[]>;
} {
  const made: string[] = [];
  const callbacks: BatchObservableCallback[] = [];
  const meter = {
    createObservableGauge(name: string) {
      made.push(name);
      return { name };
    },
    addBatchObservableCallback: (callback: BatchObservableCallback) => void callbacks.push(callback),
  } as unknown as Meter;
  const collect = async (): Promise<(readonly unknown[])[]> => {
    const seen: (readonly unknown[])[] = [];
    const observe = (gauge: Observable, value: number, attributes: unknown): void => {
      seen.push([(gauge as Observable & { readonly name: string }).name, value, attributes]);
    };
    for (const callback of callbacks) await callback({ observe });
    return seen;
  };
  return { meter, made, collect };
}
