import { KitbagError } from "../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../core/json.ts";

/** How a run ended, as a fixture keeps it. */
export interface RunFixtureEnd {
  readonly status: "ok" | "failed" | "stopped" | "paused" | "unfinished";
  readonly output?: JsonValue | undefined;
  readonly reason?: string | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/**
 * A run as a test keeps it in a file: JSON, without ids of runs, times, durations and costs, so that the same run gives the same file.
 */
export interface RunFixture {
  readonly kitbag: "run";
  readonly version: 1;
  /** What happened, as the journal of a run says it. */
  readonly events: readonly JsonObject[];
  readonly end: RunFixtureEnd;
}

/** Tells whether a value is what `recordRun` makes. */
export function isRunFixture(value: unknown): value is RunFixture {
  const { kitbag, version, events, end } = (value ?? {}) as Partial<Record<keyof RunFixture, unknown>>;
  return kitbag === "run" && version === 1 && Array.isArray(events) && typeof end === "object" && end !== null;
}

/** @throws {KitbagError} `option-invalid` if it is no fixture. */
export function checkFixture(value: unknown): RunFixture {
  if (isRunFixture(value)) return value;
  throw new KitbagError("option-invalid", {
    option: "fixture",
    found: showValue(value),
    expected: "what recordRun made, of this version of Kitbag",
  });
}
