import type { TracerProvider } from "@opentelemetry/api";

import { isFunction, isObject, type Expectations } from "../find-wrong-option.ts";

/** What the spans of a workspace say, and to whom. */
export interface TelemetryOptions {
  /** Makes the spans. @default the one that is registered with `@opentelemetry/api`; without one there are no spans */
  readonly tracerProvider?: TracerProvider;
  /**
   * Whether spans show inputs, outputs and messages of errors. Secrets, and what looks like one or like personal data, are taken
   * out, and long texts are cut. @default false
   */
  readonly content?: boolean;
  /** Whether spans say who asks, as `user.id`. @default false */
  readonly user?: boolean;
}

/** How to tell what is right in {@link TelemetryOptions}. */
export const telemetryExpectations: Expectations<TelemetryOptions> = {
  tracerProvider: [isProvider, "a tracer provider, with getTracer"],
  content: [isChoice, "true or false"],
  user: [isChoice, "true or false"],
};

function isProvider(value: unknown): boolean {
  return isObject(value) && "getTracer" in value && isFunction(value.getTracer);
}

function isChoice(value: unknown): boolean {
  return typeof value === "boolean";
}
