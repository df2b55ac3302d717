import type { JsonObject } from "../../core/json.ts";
import type { RunFixtureEnd } from "./run-fixture.ts";

/** How a journal ends. */
export function toEnd(values: readonly JsonObject[]): RunFixtureEnd {
  const last = values.at(-1);
  if (last?.["type"] === "lease-end" && last["reason"] === "paused") return { status: "paused" };
  if (last?.["type"] !== "run-end") return { status: "unfinished" };
  const { status, output, error } = last["outcome"] as JsonObject;
  if (status === "ok") return { status, output: (output as JsonObject)["output"] ?? null };
  const { code, message, reason } = error as { code: string; message: string; reason?: string };
  if (reason !== undefined) return { status: "stopped", reason };
  return { status: "failed", error: { code, message } };
}
