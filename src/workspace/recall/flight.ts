import type { ToolOutcome } from "../../core/outcome.ts";

/** What a call ended with whose outcome others wait for, without the secrets that only that call knows. */
export interface Flight {
  readonly outcome: ToolOutcome;
  /** Of the output, as JSON. */
  readonly bytes: number;
  /** Whether a failure says nothing about the calls of others. */
  readonly isOwn: boolean;
}
