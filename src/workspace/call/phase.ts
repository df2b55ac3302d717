import type { ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";

/** What is behind a phase. It may answer at once: a call of a plain function need not wait for anything. */
export type Next = () => ToolOutcome | Promise<ToolOutcome>;

/** A phase: a middleware that also sees the inside of a call. */
export type Phase = (call: Call, next: Next) => ToolOutcome | Promise<ToolOutcome>;
