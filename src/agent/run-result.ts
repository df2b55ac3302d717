import type { Failure } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { ModelMessage } from "../models/model.ts";
import type { RunUsage } from "./cost/run-usage.ts";

/** Why a run stopped before its task was done. */
export type StopReason = "steps" | "tokens" | "cost" | "time" | "calls" | "loop" | "cancelled" | "lost";

/** How a run ended. `paused` has not ended: it waits for an approval. */
export interface RunResult<Output = JsonValue> {
  readonly status: "ok" | "failed" | "stopped" | "paused";
  readonly run: string;
  /** The last text of the model; empty if it said nothing. */
  readonly text: string;
  /** What the output schema asked for; the text if there is none. Only of a run that is `ok`. */
  readonly output?: Output;
  /** Why it stopped. */
  readonly reason?: StopReason;
  /** Why it failed, or was lost. */
  readonly error?: Failure;
  /** What waits for somebody, if it is paused. */
  readonly approvals?: readonly string[];
  /** How often the model was asked. */
  readonly steps: number;
  readonly usage: RunUsage;
  /** In US dollars; `undefined` if the price of a model is not known. */
  readonly cost: number | undefined;
  /** Skills that were open at its end. */
  readonly skills: readonly string[];
  /** The conversation with this run, as the model sees it now: earlier messages may be left out, see `docs/guide/memory.md`. */
  readonly messages: readonly ModelMessage[];
}
