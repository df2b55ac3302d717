import type { Failure } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { StopReason } from "../run-result.ts";

/** How the loop of a run ended. */
export type RunEnd =
  | { readonly status: "ok"; readonly output: JsonValue }
  | { readonly status: "failed"; readonly error: Failure }
  | { readonly status: "stopped"; readonly reason: StopReason }
  | { readonly status: "paused" };
