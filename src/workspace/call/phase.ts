import type { ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";

/** A phase: a middleware that also sees the inside of a call. */
export type Phase = (call: Call, next: () => Promise<ToolOutcome>) => ToolOutcome | Promise<ToolOutcome>;
