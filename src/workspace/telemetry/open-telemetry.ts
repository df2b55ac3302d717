import type * as Api from "@opentelemetry/api";

/** The package `@opentelemetry/api`. */
export type OpenTelemetry = typeof Api;

/** Where version 1 of the package keeps what was registered, the same place for all copies of it in a process. */
const registered = Symbol.for("opentelemetry.js.api.1");

/**
 * Tells whether somebody has registered a tracer provider. The package itself need not be there for that: it consists of 50 files,
 * and most processes have no use for them.
 */
export function hasTracerProvider(): boolean {
  return (globalThis as Registered)[registered]?.trace !== undefined;
}

/** Tells whether somebody has registered a meter provider. */
export function hasMeterProvider(): boolean {
  return (globalThis as Registered)[registered]?.metrics !== undefined;
}

interface Registered {
  readonly [registered]?: { readonly trace?: unknown; readonly metrics?: unknown };
}

let loaded: OpenTelemetry | undefined;

/** The package, once it was loaded. */
export function getOpenTelemetry(): OpenTelemetry | undefined {
  return loaded;
}

/** Loads the package. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry> {
  loaded ??= await import("@opentelemetry/api");
  return loaded;
}
