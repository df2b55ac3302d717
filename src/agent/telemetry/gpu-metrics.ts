import type { Attributes, BatchObservableResult, Meter } from "@opentelemetry/api";

import type { Gpu } from "../../sandbox/read-gpus.ts";
import { gpuAttributes, gpuMetricNames } from "../../workspace/telemetry/semantic-names.ts";

/**
 * Makes the function that measures the graphics cards of this machine from now on, whenever metrics are collected. Where no card is
 * seen, nothing is measured, and no program is started again.
 */
export function createGpuMetrics(meter: Meter, read: () => Promise<readonly Gpu[]> = readNow): () => Promise<void> {
  let watching: Promise<void> | undefined;
  return () => (watching ??= watch(meter, read));
}

/** Loaded when it is used: most processes ask no model of their own. */
async function readNow(): Promise<readonly Gpu[]> {
  return (await import("../../sandbox/read-gpus.ts")).readGpus();
}

async function watch(meter: Meter, read: () => Promise<readonly Gpu[]>): Promise<void> {
  if ((await read()).length === 0) return;
  const limit = meter.createObservableGauge(gpuMetricNames.memoryLimit, {
    description: "Memory of a graphics card",
    unit: "By",
  });
  const usage = meter.createObservableGauge(gpuMetricNames.memoryUsage, {
    description: "Memory of a graphics card that is in use",
    unit: "By",
  });
  const busy = meter.createObservableGauge(gpuMetricNames.utilization, {
    description: "How busy a graphics card is, from 0 to 1",
    unit: "1",
  });
  const observe = async (result: BatchObservableResult): Promise<void> => {
    for (const gpu of await read()) {
      const attributes = describeGpu(gpu);
      if (gpu.memoryBytes !== undefined) result.observe(limit, gpu.memoryBytes, attributes);
      if (gpu.usedBytes !== undefined) result.observe(usage, gpu.usedBytes, attributes);
      if (gpu.busyShare !== undefined) result.observe(busy, gpu.busyShare, attributes);
    }
  };
  meter.addBatchObservableCallback(observe, [limit, usage, busy]);
}

function describeGpu({ id, name, vendor }: Gpu): Attributes {
  return { [gpuAttributes.id]: id, [gpuAttributes.name]: name, [gpuAttributes.vendor]: vendor };
}
