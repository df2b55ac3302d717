import {
  getOpenTelemetry,
  hasMeterProvider,
  hasTracerProvider,
  loadOpenTelemetry,
} from "../../workspace/telemetry/tracing.ts";
import type { RunOptions } from "../agent-options.ts";
import { type AgentTelemetryOptions, createModelMetrics } from "./model-metrics.ts";
import { type RunTrace, startRunTrace, type TraceParts } from "./run-trace.ts";

/** Finds out, for each run, whether a provider for spans or metrics is registered. Without one, telemetry costs nothing. */
export interface AgentTelemetry {
  isOn(): boolean;
  /** Begins the span of a run. Only if it is on. */
  start(id: string, options: RunOptions): Promise<RunTrace>;
}

/** Makes the telemetry of an agent. */
export function createAgentTelemetry(options: AgentTelemetryOptions): AgentTelemetry {
  const { tracerProvider, meterProvider } = options;
  let parts: TraceParts | undefined;

  async function open(): Promise<TraceParts> {
    const api = getOpenTelemetry() ?? (await loadOpenTelemetry());
    const tracer = (tracerProvider ?? api.trace).getTracer("kitbag");
    const hasMeter = meterProvider !== undefined || hasMeterProvider();
    const metrics = hasMeter
      ? (parts?.metrics ?? createModelMetrics((meterProvider ?? api.metrics).getMeter("kitbag")))
      : undefined;
    parts = { api, tracer, metrics, options };
    return parts;
  }

  return {
    isOn: () =>
      tracerProvider !== undefined || meterProvider !== undefined || hasTracerProvider() || hasMeterProvider(),
    start: async (id, runOptions) => startRunTrace(await open(), id, runOptions),
  };
}
