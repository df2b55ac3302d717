import type { MeterProvider, TracerProvider } from "@opentelemetry/api";

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
  /** Whether spans say who asks, as `user.id`. @default false */
  readonly user?: boolean;
}
