import type { CallOptions } from "./call-options.ts";

/** What somebody asks to be called. */
export interface CallRequest {
  /** An address, or the tool itself. */
  readonly tool: unknown;
  readonly input: unknown;
  readonly options: CallOptions;
}
