import type { WrittenFile } from "./call-files.ts";
import type { Failure } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import type { Coercion } from "./schema/coerce.ts";

/** Where the whole of an output is that was too large to hand over. */
export interface CappedOutput {
  /** Give it to `workspace.readOutput`. */
  readonly handle: string;
  readonly bytes: number;
}

/** How a call ended. Never a throw: a failure is data. */
export type ToolOutcome<Output = JsonValue> = OkOutcome<Output> | FailedOutcome;

/** The tool ran and its output was checked. */
export interface OkOutcome<Output = JsonValue> {
  readonly status: "ok";
  readonly output: Output;
  /** Changes that were made to the input so that it fits. */
  readonly coerced?: readonly Coercion[];
  /** Set when `output` is only the head of what the tool returned. */
  readonly capped?: CappedOutput;
  /** Set when the tool was not run for this call; says where the output comes from. */
  readonly recalled?: Recalled;
  /** What the tool wrote: saved where the caller named a place, else only kept. Not what it wrote to folders that its permissions open. */
  readonly files?: readonly WrittenFile[];
}

/**
 * The source of an output without a run of the tool: cached for the same input, for an input that says the same (`similar`), or for the
 * same key; or shared with a running call.
 */
export type Recalled = "cache" | "key" | "shared" | "similar";

/** The call failed: `error` says why and what to do. */
export interface FailedOutcome {
  readonly status: "failed";
  readonly error: Failure;
  /** What the tool wrote until then. */
  readonly files?: readonly WrittenFile[];
}

/** What stands in for an output that was too large: its beginning, its shape and where the rest is. */
export interface OutputHead {
  readonly head: string;
  /** In words: `a list of 1200 objects with id, name`. */
  readonly shape: string;
  readonly handle: string;
  readonly bytes: number;
}
