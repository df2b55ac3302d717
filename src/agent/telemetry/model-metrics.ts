import type { Attributes, Meter, MeterProvider, TracerProvider } from "@opentelemetry/api";

import { chat, conventions, metricNames } from "../../workspace/telemetry/semantic-names.ts";
import { toTokenCount } from "../cost/usage-counter.ts";
import type { ModelAnswered } from "../events.ts";
import { createGpuMetrics } from "./gpu-metrics.ts";

/** Measures questions to models. */
export interface ModelMetrics {
  /** An answer that came. `asked` says which model was. */
  addAnswer(asked: Attributes, answer: ModelAnswered): void;
  addFailure(asked: Attributes, durationMs: number, errorType: string): void;
  /** A model on a server of one's own is asked: the graphics cards of this machine are measured from now on. */
  watchGpus(): void;
}

// As the conventions want them, so that the numbers of different programs can be put together.
const tokenSteps = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];
const secondSteps = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/** Makes the metrics of an agent. */
export function createModelMetrics(meter: Meter): ModelMetrics {
  const tokens = meter.createHistogram(metricNames.tokenUsage, {
    description: "Tokens of a question and of its answer",
    unit: "{token}",
    advice: { explicitBucketBoundaries: tokenSteps },
  });
  const duration = meter.createHistogram(metricNames.operationDuration, {
    description: "How long a question took",
    unit: "s",
    advice: { explicitBucketBoundaries: secondSteps },
  });
  const cost = meter.createCounter(metricNames.cost, {
    description: "What answers cost, as far as their prices are known",
    unit: "{USD}",
  });

  const watchGpus = createGpuMetrics(meter);
  return {
    watchGpus: () => void watchGpus(),
    addAnswer(asked, { model, usage, cost: paid, durationMs }) {
      const attributes = {
        [conventions.operationName]: chat,
        ...asked,
        [conventions.responseModel]: model.slice(model.indexOf("/") + 1),
      };
      const { total: input } = usage.inputTokens;
      const { total: output } = usage.outputTokens;
      if (input !== undefined) tokens.record(toTokenCount(input), { ...attributes, [conventions.tokenType]: "input" });
      if (output !== undefined) {
        tokens.record(toTokenCount(output), { ...attributes, [conventions.tokenType]: "output" });
      }
      duration.record(durationMs / 1000, attributes);
      if (paid !== undefined) cost.add(paid, attributes);
    },
    addFailure(asked, durationMs, errorType) {
      const attributes = { [conventions.operationName]: chat, ...asked, [conventions.errorType]: errorType };
      duration.record(durationMs / 1000, attributes);
    },
  };
}

/** What an agent tells about its runs, and to whom. */
export interface AgentTelemetryOptions {
  /** Makes the spans. @default the one that is registered with `@opentelemetry/api`; without one there are no spans */
  readonly tracerProvider?: TracerProvider;
  /** Makes the metrics. @default the one that is registered with `@opentelemetry/api`; without one there are no metrics */
  readonly meterProvider?: MeterProvider;
  /**
   * Whether spans show what a model is asked and answers, and messages of errors. What looks like a secret or like personal data is
   * taken out, and long texts are cut. @default false
   */
  readonly content?: boolean;
  /** Whether spans name the user, as `user.id`. @default false */
  readonly user?: boolean;
}
